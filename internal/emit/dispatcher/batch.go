package dispatcher

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// The ways in which torch.vmap calls a kernel.
const (
	BatchEach   = "each"   // once for each element of the batch, as PyTorch does by itself
	BatchJoined = "joined" // once, with the batch as a leading dimension
	BatchNone   = "none"   // never
)

// Batching returns how torch.vmap calls a kernel.
func Batching(k *contract.Kernel) string {
	switch {
	case k.NoBatch:
		return BatchNone
	case k.Joins() && len(k.Returned()) > 0 && len(k.Written()) == 0:
		return BatchJoined
	}
	return BatchEach
}

// Limits lists the transformations that PyTorch does not support for a kernel, or applies element
// by element.
func Limits(k *contract.Kernel) (all []string) {
	if k.Backward != nil {
		all = append(all, "no torch.func.grad", "no torch.func.jvp",
			"second derivatives need a backward of "+k.Backward.Kernel)
	}
	switch {
	case k.NoBatch:
		all = append(all, "no torch.vmap: batch: none")
	case len(k.Written()) > 0:
		all = append(all, "no torch.vmap: it writes to an argument")
	case Batching(k) == BatchEach:
		all = append(all, "torch.vmap makes one call per element")
	}
	return append(all, onTwoDevices(k)...)
}

// onTwoDevices returns the limit of a kernel that has a tensor on the CPU beside those on another
// device. PyTorch rejects fake tensors on two devices before it calls the kernel's function for
// fake tensors, unless those on the CPU have rank 0.
func onTwoDevices(k *contract.Kernel) (all []string) {
	isTensor := func(p contract.Param) bool { return p.Kind == contract.Tensor }
	isElsewhere := func(p contract.Param) bool { return isTensor(p) && !p.CPU }
	if !emit.ElsewhereThanTheCPU(k) || !slices.ContainsFunc(k.Args, isElsewhere) {
		return nil
	}
	for _, p := range k.Args {
		if isTensor(p) && p.CPU && len(p.Extents) > 0 {
			all = append(all, "no torch.compile with tensors on a different device: "+p.Name+" is on the CPU")
		}
	}
	return all
}
