package dispatcher

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// Words are the formats of a language for the extents of results, which may be symbols of a graph.
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
	Leading     string // the dimensions of an ellipsis: an argument, their place, and its other dimensions
}

// Symbol formats the value of a symbol through a required argument.
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

// Name returns the variable of a symbol.
func (w Words) Name(symbol string) string { return fmt.Sprintf(w.Local, symbol) }

// size returns the extent of a tensor at an index, which counts from the end after an ellipsis.
func (w Words) size(p contract.Param, at int) string {
	rank, ellipsis := p.Rank()
	if ellipsis != contract.None && at > ellipsis {
		at -= len(p.Extents)
	}
	return fmt.Sprintf(w.Extent, p.Name, rank, at)
}

// solved returns the value of a symbol that is part of an expression.
func (w Words) solved(d contract.Dim, e contract.Extent, size string) string {
	if e.Form != contract.Solved || d.Solve == nil {
		return size
	}
	inverse := map[notation.Op]string{notation.Add: "-", notation.Subtract: "+", notation.Multiply: w.Quotient}
	return fmt.Sprintf("%s %s %d", size, inverse[d.Solve.Op], d.Solve.Number)
}

// EllipsisOf returns a required argument with the dimensions of an ellipsis, and the ellipsis's
// index among its extents.
func EllipsisOf(k *contract.Kernel, dim int) (contract.Param, int) {
	for _, p := range k.Args {
		if _, at := p.Rank(); p.Kind == contract.Tensor && !p.Optional && at != contract.None &&
			p.Extents[at].Dim == dim {
			return p, at
		}
	}
	panic("unreachable: a result's extents are bound by an argument without `?`")
}

// signs are the operators of C++ and Python, by those of the notation.
var signs = map[notation.Op]string{notation.Add: "+", notation.Subtract: "-", notation.Multiply: "*"}

// Expr formats an expression over numbers that may be symbols.
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

// quote replaces the quotes in the words above, which formats contain, with Python's usual ones.
func quote(text string) string { return strings.ReplaceAll(text, "'", `"`) }

// Shapes returns lines of Python for the symbols, and an item for each result with its shape and
// dtype. The arguments are in a dict, `given`.
func (w Words) Shapes(k *contract.Kernel) (lines, items []string) {
	for i, d := range k.Dims {
		if value, found := w.Symbol(k, i); found && w.used(k, d.Name) {
			lines = append(lines, quote(w.Name(d.Name)+" = "+value))
		}
	}
	for _, p := range k.Results {
		var extents []string
		for _, e := range p.Extents {
			extents = append(extents, quote(w.extent(k, e)))
		}
		items = append(items, fmt.Sprintf("([%s], %s)", strings.Join(extents, ", "), dtypeOf(k, p)))
	}
	return lines, items
}

// used reports whether a result needs a symbol.
func (w Words) used(k *contract.Kernel, symbol string) bool {
	return slices.ContainsFunc(k.Results, func(p contract.Param) bool {
		return slices.ContainsFunc(p.Extents, func(e contract.Extent) bool {
			return e.Form != contract.Ellipsis && names(w.Expr(e.Size), w.Name(symbol))
		})
	})
}

// names reports whether an expression has a name as a whole word.
func names(expression, name string) bool {
	words := strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune("()+-*, .[]'", r) })
	return slices.Contains(words, name)
}

func (w Words) extent(k *contract.Kernel, e contract.Extent) string {
	if e.Form == contract.Ellipsis {
		p, at := EllipsisOf(k, e.Dim)
		rank, _ := p.Rank()
		return fmt.Sprintf(w.Leading, p.Name, at, rank)
	}
	return w.Expr(e.Size)
}

func dtypeOf(k *contract.Kernel, p contract.Param) string {
	if p.Var != contract.None {
		return fmt.Sprintf("arguments[%q].dtype", k.Args[k.Vars[p.Var].Arg].Name)
	}
	return fmt.Sprintf("%q", p.Types[0].Name)
}
