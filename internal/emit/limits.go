package emit

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// WithoutGradients are the limits of a host that computes no gradients.
func WithoutGradients(k *contract.Kernel) []string {
	if k.Backward == nil {
		return nil
	}
	return []string{"no gradient"}
}

// ElsewhereThanTheCPU reports whether a kernel has a function for another device than the CPU.
func ElsewhereThanTheCPU(k *contract.Kernel) bool {
	return slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name != "kDLCPU" })
}

// GivesTensors reports whether a kernel returns a tensor to its caller.
func GivesTensors(k *contract.Kernel) bool {
	return slices.ContainsFunc(k.Returned(), func(p contract.Param) bool { return p.Kind == contract.Tensor })
}

// OnTheCPU returns the limits of a caller that copies and allocates only in host memory. newForm is
// the name of its form that allocates the results, or "".
func OnTheCPU(k *contract.Kernel, newForm string) (all []string) {
	if !ElsewhereThanTheCPU(k) {
		return nil
	}
	if slices.ContainsFunc(k.Args, func(p contract.Param) bool { return p.Copied }) {
		all = append(all, "copied arguments must be contiguous on devices other than the CPU")
	}
	if newForm != "" && GivesTensors(k) {
		all = append(all, newForm+" allocates only on the CPU")
	}
	return all
}
