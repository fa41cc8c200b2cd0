package torch

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// shapes are the lines that make results of shapes that may be symbols.
func shapes(k *contract.Kernel) (lines []string) {
	for i := range k.Dims {
		lines = append(lines, symbol(k, i)...)
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

// options are the dtype and the device of a result.
func options(k *contract.Kernel, p contract.Param) string {
	if p.Var != contract.None {
		return "like_.options().dtype(" + k.Args[k.Vars[p.Var].Arg].Name + ".scalar_type())"
	}
	return "like_.options().dtype(detail::scalar_or_throw(" + dtype(p) + "))"
}

// symbol finds the value of a symbol by an argument that is always there; others are not needed.
func symbol(k *contract.Kernel, dim int) []string {
	name := k.Dims[dim].Name
	if i := k.Arg(name); i != contract.None && !k.Args[i].Optional {
		return []string{fmt.Sprintf("[[maybe_unused]] const c10::SymInt %s(%s);", local(name), name)}
	}
	for _, p := range k.Args {
		if p.Kind != contract.Tensor || p.Optional {
			continue
		}
		for at, e := range p.Extents {
			if e.Dim == dim && (e.Form == contract.Symbol || e.Form == contract.Solved) {
				return []string{fmt.Sprintf("[[maybe_unused]] const c10::SymInt %s = %s;", local(name),
					solved(k.Dims[dim], e, size(p, at)))}
			}
		}
	}
	return nil
}

// local names a symbol in C++.
func local(name string) string { return name + "_dim_" }

// size is the extent of a tensor at a place, which is counted from the end behind an ellipsis.
func size(p contract.Param, at int) string {
	if rank, ellipsis := p.Rank(); ellipsis != contract.None && at > ellipsis {
		return fmt.Sprintf("detail::extent(%s, %d, %d)", p.Name, rank, at-len(p.Extents))
	} else if ellipsis != contract.None {
		return fmt.Sprintf("detail::extent(%s, %d, %d)", p.Name, rank, at)
	}
	return fmt.Sprintf("detail::extent(%s, %d, %d)", p.Name, len(p.Extents), at)
}

// solved turns an extent into its symbol, where that stands in an expression alone.
func solved(d contract.Dim, e contract.Extent, size string) string {
	if e.Form != contract.Solved || d.Solve == nil {
		return size
	}
	inverse := map[notation.Op]string{notation.Add: "-", notation.Subtract: "+", notation.Multiply: "/"}
	return fmt.Sprintf("%s %s %d", size, inverse[d.Solve.Op], d.Solve.Number)
}

// extent appends an extent of a result to its shape.
func extent(k *contract.Kernel, result int, e contract.Extent) string {
	if e.Form == contract.Ellipsis {
		p, at := ellipsisOf(k, e.Dim)
		rank, _ := p.Rank()
		return fmt.Sprintf("detail::append_leading(shape%d_, %s, %d, %d);", result, p.Name, at, rank)
	}
	return fmt.Sprintf("shape%d_.push_back(%s);", result, symint(e.Size))
}

// ellipsisOf is an argument that is always there and has the dimensions of an ellipsis.
func ellipsisOf(k *contract.Kernel, dim int) (contract.Param, int) {
	for _, p := range k.Args {
		if _, at := p.Rank(); p.Kind == contract.Tensor && !p.Optional && at != contract.None &&
			p.Extents[at].Dim == dim {
			return p, at
		}
	}
	panic("unreachable: a result's extents are bound by an argument without `?`")
}

// symints are the operators of C++ for those of the notation.
var symints = map[notation.Op]string{notation.Add: "+", notation.Subtract: "-", notation.Multiply: "*"}

// symint spells an expression over numbers that may be symbols.
func symint(e *notation.Expr) string {
	switch e.Op {
	case notation.Literal:
		return fmt.Sprintf("c10::SymInt(%d)", e.Number)
	case notation.Symbol:
		return local(e.Name)
	case notation.Size:
		return e.Name + ".sym_numel()"
	case notation.Shape:
		return fmt.Sprintf("%s.sym_size(%s)", e.Name, e.Operands[0])
	case notation.Item:
		return fmt.Sprintf("c10::SymInt(%s.at(%s))", e.Name, e.Operands[0])
	case notation.Negate:
		return "(c10::SymInt(0) - " + symint(e.Operands[0]) + ")"
	case notation.Min, notation.Max:
		return extreme(e)
	case notation.FloorDiv:
		return "detail::floor_divide(" + symint(e.Operands[0]) + ", " + symint(e.Operands[1]) + ")"
	case notation.Remainder:
		return "detail::floor_remainder(" + symint(e.Operands[0]) + ", " + symint(e.Operands[1]) + ")"
	}
	return "(" + symint(e.Operands[0]) + " " + symints[e.Op] + " " + symint(e.Operands[1]) + ")"
}

func extreme(e *notation.Expr) string {
	name := map[notation.Op]string{notation.Min: "least", notation.Max: "greatest"}[e.Op]
	text := symint(e.Operands[0])
	for _, o := range e.Operands[1:] {
		text = fmt.Sprintf("detail::%s(%s, %s)", name, text, symint(o))
	}
	return text
}
