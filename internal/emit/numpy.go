package emit

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// NumPyDTypes are NumPy's dtypes, in the order in which ufuncs search a loop. A test of
// internal/targets compares them with those that the C of targets python and ufunc reads.
var NumPyDTypes = []spec.DType{
	{Name: "bool", Code: "kDLBool", Bits: 8}, {Name: "int8", Code: "kDLInt", Bits: 8},
	{Name: "uint8", Code: "kDLUInt", Bits: 8}, {Name: "int16", Code: "kDLInt", Bits: 16},
	{Name: "uint16", Code: "kDLUInt", Bits: 16}, {Name: "int32", Code: "kDLInt", Bits: 32},
	{Name: "uint32", Code: "kDLUInt", Bits: 32}, {Name: "int64", Code: "kDLInt", Bits: 64},
	{Name: "uint64", Code: "kDLUInt", Bits: 64}, {Name: "float16", Code: "kDLFloat", Bits: 16},
	{Name: "float32", Code: "kDLFloat", Bits: 32}, {Name: "float64", Code: "kDLFloat", Bits: 64},
	{Name: "complex64", Code: "kDLComplex", Bits: 64}, {Name: "complex128", Code: "kDLComplex", Bits: 128},
}

// WithoutDTypesOfNumPy returns the limit of a caller with arrays of NumPy: the dtypes of the kernel
// that NumPy lacks.
func WithoutDTypesOfNumPy(k *contract.Kernel) []string {
	return WithoutDTypes(k, "NumPy", func(name string) bool {
		return slices.ContainsFunc(NumPyDTypes, func(d spec.DType) bool { return name == d.Name })
	})
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
