package dispatcher

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// Words are how a language spells the extents of results, which may be symbols of a graph. Each
// is a format.
type Words struct {
	Local       string // the variable of a symbol
	Literal     string
	Argument    string // of type int
	Size, Shape string // of an argument, and of its dimension
	Item        string // of a list
	Negate      string
	FloorDivide string
	Remainder   string
	Least       string
	Greatest    string
	Quotient    string // the operator that divides without a remainder
	Extent      string // of an argument, its dimensions at least, and which of them
}

// Symbol spells the value of a symbol by an argument that is always there; others are not needed.
func (w Words) Symbol(k *contract.Kernel, dim int) (value string, found bool) {
	name := k.Dims[dim].Name
	if i := k.Arg(name); i != contract.None && !k.Args[i].Optional {
		return fmt.Sprintf(w.Argument, name), true
	}
	for _, p := range k.Args {
		if p.Kind != contract.Tensor || p.Optional {
			continue
		}
		for at, e := range p.Extents {
			if e.Dim == dim && (e.Form == contract.Symbol || e.Form == contract.Solved) {
				return w.solved(k.Dims[dim], e, w.size(p, at)), true
			}
		}
	}
	return "", false
}

// Name spells the variable of a symbol.
func (w Words) Name(symbol string) string { return fmt.Sprintf(w.Local, symbol) }

// size is the extent of a tensor at a place, which is counted from the end behind an ellipsis.
func (w Words) size(p contract.Param, at int) string {
	rank, ellipsis := p.Rank()
	if ellipsis != contract.None && at > ellipsis {
		at -= len(p.Extents)
	}
	return fmt.Sprintf(w.Extent, p.Name, rank, at)
}

// solved turns an extent into its symbol, where that stands in an expression alone.
func (w Words) solved(d contract.Dim, e contract.Extent, size string) string {
	if e.Form != contract.Solved || d.Solve == nil {
		return size
	}
	inverse := map[notation.Op]string{notation.Add: "-", notation.Subtract: "+", notation.Multiply: w.Quotient}
	return fmt.Sprintf("%s %s %d", size, inverse[d.Solve.Op], d.Solve.Number)
}

// EllipsisOf is an argument that is always there and has the dimensions of an ellipsis, and the
// place of that among its extents.
func EllipsisOf(k *contract.Kernel, dim int) (contract.Param, int) {
	for _, p := range k.Args {
		if _, at := p.Rank(); p.Kind == contract.Tensor && !p.Optional && at != contract.None &&
			p.Extents[at].Dim == dim {
			return p, at
		}
	}
	panic("unreachable: a result's extents are bound by an argument without `?`")
}

// signs are the operators of C++ and Python for those of the notation.
var signs = map[notation.Op]string{notation.Add: "+", notation.Subtract: "-", notation.Multiply: "*"}

// Expr spells an expression over numbers that may be symbols.
func (w Words) Expr(e *notation.Expr) string {
	switch e.Op {
	case notation.Literal:
		return fmt.Sprintf(w.Literal, fmt.Sprint(e.Number))
	case notation.Symbol:
		return w.Name(e.Name)
	case notation.Size:
		return fmt.Sprintf(w.Size, e.Name)
	case notation.Shape:
		return fmt.Sprintf(w.Shape, e.Name, e.Operands[0])
	case notation.Item:
		return fmt.Sprintf(w.Item, e.Name, e.Operands[0])
	case notation.Negate:
		return fmt.Sprintf(w.Negate, w.Expr(e.Operands[0]))
	case notation.Min:
		return w.extreme(w.Least, e)
	case notation.Max:
		return w.extreme(w.Greatest, e)
	case notation.FloorDiv:
		return fmt.Sprintf(w.FloorDivide, w.Expr(e.Operands[0]), w.Expr(e.Operands[1]))
	case notation.Remainder:
		return fmt.Sprintf(w.Remainder, w.Expr(e.Operands[0]), w.Expr(e.Operands[1]))
	}
	return "(" + w.Expr(e.Operands[0]) + " " + signs[e.Op] + " " + w.Expr(e.Operands[1]) + ")"
}

func (w Words) extreme(format string, e *notation.Expr) string {
	text := w.Expr(e.Operands[0])
	for _, o := range e.Operands[1:] {
		text = fmt.Sprintf(format, text, w.Expr(o))
	}
	return text
}
