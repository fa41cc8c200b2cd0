package emit

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// NumPyDTypes are NumPy's dtypes, in the order in which ufuncs search a loop. A test of
// internal/targets compares them with those that the C of targets python and ufunc reads.
var NumPyDTypes = []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
	"float32", "float64", "complex64", "complex128"}

// WithoutDTypesOfNumPy returns the limit of a caller with arrays of NumPy: the dtypes of the kernel
// that NumPy lacks.
func WithoutDTypesOfNumPy(k *contract.Kernel) []string {
	return WithoutDTypes(k, "NumPy", func(name string) bool { return slices.Contains(NumPyDTypes, name) })
}

// WithoutDTypes returns the limit of a caller whose host lacks dtypes of the kernel's tensors.
func WithoutDTypes(k *contract.Kernel, host string, has func(name string) bool) []string {
	var all []string
	for _, p := range slices.Concat(k.Args, k.Results) {
		for _, t := range p.Types {
			if p.Kind == contract.Tensor && !has(t.Name) && !slices.Contains(all, t.Name) {
				all = append(all, t.Name)
			}
		}
	}
	if n := len(all); n > 1 {
		all = []string{strings.Join(all[:n-1], ", ") + " or " + all[n-1]}
	}
	if len(all) > 0 {
		all[0] = host + " has no " + all[0]
	}
	return all
}
