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

// Limits lists what torch.vmap does not do for a kernel, or does element by element.
func Limits(k *contract.Kernel) []string {
	switch {
	case k.NoBatch:
		return []string{"no torch.vmap: batch: none"}
	case len(k.Written()) > 0:
		return []string{"no torch.vmap: it writes to an argument"}
	case Batching(k) == BatchEach:
		return []string{"torch.vmap makes one call per element"}
	}
	return nil
}
