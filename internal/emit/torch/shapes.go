package torch

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// symints are the formats of C++ for numbers that may be symbols.
var symints = dispatcher.Words{
	Local: "%s_dim_", Literal: "c10::SymInt(%s)", Argument: "c10::SymInt(%s)",
	Size: "%s.sym_numel()", Shape: "%s.sym_size(%s)", Item: "c10::SymInt(%s.at(%s))", Negate: "(c10::SymInt(0) - %s)",
	FloorDivide: "detail::floor_divide(%s, %s)", Remainder: "detail::floor_remainder(%s, %s)",
	Least:    "detail::least(%s, %s)",
	Greatest: "detail::greatest(%s, %s)",
	Quotient: "/", Extent: "detail::extent(%s, %d, %d)",
}

// shapes returns the lines that create results whose shapes may be symbols.
func shapes(k *contract.Kernel) (lines []string) {
	for i, d := range k.Dims {
		if value, found := symints.Symbol(k, i); found {
			lines = append(lines,
				fmt.Sprintf("[[maybe_unused]] const c10::SymInt %s = %s;", symints.Name(d.Name), value))
		}
	}
	for i, p := range k.Results {
		lines = append(lines, fmt.Sprintf("std::vector<c10::SymInt> shape%d_;", i))
		for _, e := range p.Extents {
			lines = append(lines, extent(k, i, e))
		}
		lines = append(lines, fmt.Sprintf("made_[%d] = at::empty_symint(shape%d_, %s);", i, i, options(k, p)))
	}
	return lines
}

// options returns the dtype and the device of a result.
func options(k *contract.Kernel, p contract.Param) string {
	if p.Var != contract.None {
		return "like_.options().dtype(" + k.Args[k.Vars[p.Var].Arg].Name + ".scalar_type())"
	}
	return "like_.options().dtype(detail::scalar_or_throw(" + dtype(p) + "))"
}

// extent appends an extent of a result to its shape.
func extent(k *contract.Kernel, result int, e contract.Extent) string {
	if e.Form == contract.Ellipsis {
		p, at := dispatcher.EllipsisOf(k, e.Dim)
		rank, _ := p.Rank()
		return fmt.Sprintf("detail::append_leading(shape%d_, %s, %d, %d);", result, p.Name, at, rank)
	}
	return fmt.Sprintf("shape%d_.push_back(%s);", result, symints.Expr(e.Size))
}
