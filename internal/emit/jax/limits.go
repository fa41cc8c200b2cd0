package jax

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// limits lists the features of a kernel that JAX does not support, or supports differently.
func limits(k *contract.Kernel) (all []string) {
	isColumnMajor := func(p contract.Param) bool { return p.Layout == contract.ColumnMajor }
	isStrided := func(p contract.Param) bool { return p.Layout != contract.Contiguous && !isColumnMajor(p) }
	if slices.ContainsFunc(k.Args, isColumnMajor) {
		all = append(all, "XLA transposes column_major arguments for the call")
	}
	if slices.ContainsFunc(k.Args, isStrided) {
		all = append(all, "no strides: XLA passes C-contiguous arrays")
	}
	if slices.ContainsFunc(k.Args, func(p contract.Param) bool { return p.Kind != contract.Tensor }) {
		all = append(all, "each new value of a scalar is compiled again")
	}
	if len(k.Written()) > 0 {
		all = append(all, "written arguments are returned as new arrays")
	}
	if k.Backward != nil {
		all = append(all, "no jax.jvp", "no second derivatives")
	}
	switch {
	case k.NoBatch:
		all = append(all, "no jax.vmap: batch: none")
	case !k.Joins():
		all = append(all, "jax.vmap makes one call per element")
	}
	return append(all, "no symbolic shapes in jax.export")
}
