package contract

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// Joins reports whether a batch may be an additional leading dimension of a kernel that writes to
// no argument. Every result must then have this dimension, and no computed value may change.
// Kernels with int arguments do not qualify, because an int may be the index of a dimension.
func (k *Kernel) Joins() bool {
	misplaced := func(p Param) bool { return k.hasEllipsis(p) && !k.Leads(p) }
	follows := func(p Param) bool { return !k.Leads(p) }
	return slices.ContainsFunc(k.Args, k.Leads) && !slices.ContainsFunc(k.Args, misplaced) &&
		!slices.ContainsFunc(k.Args, Param.isIndex) && !slices.ContainsFunc(k.Results, follows) && !k.measures()
}

// Leads reports whether a tensor begins with `...`, and still matches its line with an additional
// leading dimension.
func (k *Kernel) Leads(p Param) bool {
	_, at := p.Rank()
	return k.hasEllipsis(p) && at == 0 && p.Layout != ColumnMajor
}

// isIndex reports whether a scalar or a list has a fixed integer type.
func (p Param) isIndex() bool {
	if p.Kind == Number && p.Var == None {
		return p.Types[0].IsInteger()
	}
	return p.Kind == Int || p.Kind == Ints
}

func (k *Kernel) hasEllipsis(p Param) bool {
	_, at := p.Rank()
	return p.Kind == Tensor && at != None && k.Ellipses[p.Extents[at].Dim].Name == ""
}

// measures reports whether an expression reads the size or the shape of an argument with `...`.
func (k *Kernel) measures() bool {
	for _, p := range slices.Concat(k.Args, k.Results) {
		for _, e := range p.Extents {
			if k.measured(e.Size) {
				return true
			}
		}
	}
	return slices.ContainsFunc(k.Where, k.conditioned)
}

func (k *Kernel) conditioned(c *notation.Cond) bool {
	return k.measured(c.Left) || k.measured(c.Right) || slices.ContainsFunc(c.Conds, k.conditioned)
}

func (k *Kernel) measured(e *notation.Expr) bool {
	if e == nil {
		return false
	}
	if i := k.Arg(e.Name); (e.Op == notation.Size || e.Op == notation.Shape) && i != None {
		return k.hasEllipsis(k.Args[i])
	}
	return slices.ContainsFunc(e.Operands, k.measured)
}
