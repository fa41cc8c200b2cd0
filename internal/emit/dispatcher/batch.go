package dispatcher

import "github.com/dlpackgen/dlpackgen/internal/kernel/contract"

// How torch.vmap calls a kernel.
const (
	BatchEach   = "each"   // once for each element of the batch, as PyTorch does by itself
	BatchJoined = "joined" // once, with the batch as a leading dimension
	BatchNone   = "none"   // never
)

// Batching tells how torch.vmap calls a kernel.
func Batching(k *contract.Kernel) string {
	switch {
	case k.NoBatch:
		return BatchNone
	case k.Joins() && len(k.Given()) > 0 && len(k.Written()) == 0:
		return BatchJoined
	}
	return BatchEach
}
