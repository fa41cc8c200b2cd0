package torch

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

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
	case joins(k):
		return batchJoined
	}
	return batchEach
}

// joins tells whether a batch may be one more leading dimension: every result has it then, and
// nothing that the description computes changes by it. An int may be the number of a dimension,
// which would be another one.
func joins(k *contract.Kernel) bool {
	leads := func(p contract.Param) bool { return leads(k, p) }
	misplaced := func(p contract.Param) bool { return hasEllipsis(k, p) && !leads(p) }
	follows := func(p contract.Param) bool { return !leads(p) }
	return slices.ContainsFunc(k.Args, leads) && !slices.ContainsFunc(k.Args, misplaced) &&
		!slices.ContainsFunc(k.Args, isIndex) && len(k.Given()) > 0 && !slices.ContainsFunc(k.Results, follows) &&
		len(k.Written()) == 0 && !measures(k)
}

// isIndex tells whether a scalar or a list is of an integer type by itself.
func isIndex(p contract.Param) bool {
	if p.Kind == contract.Number && p.Var == contract.None {
		return p.Types[0].Code == "kDLInt" || p.Types[0].Code == "kDLUInt"
	}
	return p.Kind == contract.Int || p.Kind == contract.Ints
}

// leads tells whether a tensor begins with `...`, and stays as its line says with a dimension more.
func leads(k *contract.Kernel, p contract.Param) bool {
	_, at := p.Rank()
	return hasEllipsis(k, p) && at == 0 && p.Layout != contract.ColumnMajor
}

func hasEllipsis(k *contract.Kernel, p contract.Param) bool {
	_, at := p.Rank()
	return p.Kind == contract.Tensor && at != contract.None && k.Ellipses[p.Extents[at].Dim].Name == ""
}

// measures tells whether an expression reads the size or the shape of an argument with `...`.
func measures(k *contract.Kernel) bool {
	for _, p := range slices.Concat(k.Args, k.Results) {
		for _, e := range p.Extents {
			if measured(k, e.Size) {
				return true
			}
		}
	}
	return slices.ContainsFunc(k.Where, func(c *notation.Cond) bool { return conditioned(k, c) })
}

func conditioned(k *contract.Kernel, c *notation.Cond) bool {
	return measured(k, c.Left) || measured(k, c.Right) ||
		slices.ContainsFunc(c.Conds, func(c *notation.Cond) bool { return conditioned(k, c) })
}

func measured(k *contract.Kernel, e *notation.Expr) bool {
	if e == nil {
		return false
	}
	if i := k.Arg(e.Name); (e.Op == notation.Size || e.Op == notation.Shape) && i != contract.None {
		return hasEllipsis(k, k.Args[i])
	}
	return slices.ContainsFunc(e.Operands, func(e *notation.Expr) bool { return measured(k, e) })
}
