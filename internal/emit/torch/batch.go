package torch

import "github.com/dlpackgen/dlpackgen/internal/kernel/contract"

// The forms of Batching in batched.hpp.
const (
	batchEach   = "each"
	batchJoined = "joined"
	batchNone   = "none"
)

// batching tells how torch.vmap calls a kernel.
func batching(k *contract.Kernel) string {
	switch {
	case k.NoBatch:
		return batchNone
	case k.Joins() && len(k.Given()) > 0 && len(k.Written()) == 0:
		return batchJoined
	}
	return batchEach
}
