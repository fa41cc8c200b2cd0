package torchshim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// symbols are the words of Python for numbers that may be symbols.
var symbols = dispatcher.Words{
	Local: "%s_dim_", Literal: "%s", Argument: "given['%s']", Size: "given['%s'].numel()",
	Shape: "given['%s'].shape[%s]", Item: "given['%s'][%s]", Negate: "(-%s)",
	FloorDivide: "shim.floor_divide(%s, %s)", Remainder: "shim.floor_remainder(%s, %s)",
	Least: "shim.least(%s, %s)", Greatest: "shim.greatest(%s, %s)", Quotient: "//",
	Extent: "shim.extent(given['%s'], %d, %d)",
}

// quote makes Python's usual quotes of those in the words above, which stand in formats.
func quote(text string) string { return strings.ReplaceAll(text, "'", `"`) }

// shapes are the lines for the symbols, and an item for each result: its shape and its dtype.
func shapes(k *contract.Kernel) (lines, items []string) {
	for i, d := range k.Dims {
		if value, found := symbols.Symbol(k, i); found && used(k, d.Name) {
			lines = append(lines, quote(symbols.Name(d.Name)+" = "+value))
		}
	}
	for _, p := range k.Results {
		var extents []string
		for _, e := range p.Extents {
			extents = append(extents, quote(extent(k, e)))
		}
		items = append(items, fmt.Sprintf("([%s], %s)", strings.Join(extents, ", "), dtypeOf(k, p)))
	}
	return lines, items
}

// used tells whether a result needs a symbol.
func used(k *contract.Kernel, symbol string) bool {
	return slices.ContainsFunc(k.Results, func(p contract.Param) bool {
		return slices.ContainsFunc(p.Extents, func(e contract.Extent) bool {
			return e.Form != contract.Ellipsis && names(symbols.Expr(e.Size), symbols.Name(symbol))
		})
	})
}

// names tells whether an expression has a name as a whole word.
func names(expression, name string) bool {
	words := strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune("()+-*, .[]'", r) })
	return slices.Contains(words, name)
}

func extent(k *contract.Kernel, e contract.Extent) string {
	if e.Form == contract.Ellipsis {
		p, at := dispatcher.EllipsisOf(k, e.Dim)
		rank, _ := p.Rank()
		return fmt.Sprintf("*shim.leading(given['%s'], %d, %d)", p.Name, at, rank)
	}
	return symbols.Expr(e.Size)
}

func dtypeOf(k *contract.Kernel, p contract.Param) string {
	if p.Var != contract.None {
		return fmt.Sprintf("given[%q].dtype", k.Args[k.Vars[p.Var].Arg].Name)
	}
	return fmt.Sprintf("%q", p.Types[0].Name)
}

// pythonArgument describes an argument to dlpackgen_torchshim.py.
func pythonArgument(k *contract.Kernel, p contract.Param) string {
	text := fmt.Sprintf("%q, %q", p.Name, strings.ToLower(kind(p)))
	contiguous := p.Kind == contract.Tensor && (p.Layout == contract.Contiguous || p.Layout == contract.AnyOrder)
	for _, flag := range []struct {
		name string
		on   bool
	}{{"writes", dispatcher.WrittenAlias(p) != ""}, {"copied", p.Copied}, {"cpu", p.CPU},
		{"leading", k.Leads(p)}, {"contiguous", contiguous}} {
		if flag.on {
			text += ", " + flag.name + "=True"
		}
	}
	if p.Default != nil {
		text += ", default=" + p.Default.String()
	}
	return "shim.Argument(" + text + "),"
}

// fields are those of an operator in Python that have no line in every operator.
func fields(k *contract.Kernel, op *operator) (all []string) {
	add := func(name, value string) { all = append(all, name+"="+value+",") }
	if op.BoxedName != op.Name {
		add("numbers", fmt.Sprintf("%q", op.BoxedName))
	}
	if op.Name == k.Name && saves(k) {
		add("saving", fmt.Sprintf("%q", dispatcher.SavingName(k)))
	}
	if batching := dispatcher.Batching(k); batching != dispatcher.BatchEach {
		add("batching", fmt.Sprintf("%q", batching))
	}
	if k.Backward != nil {
		add("backward", fmt.Sprintf("%q", k.Backward.Kernel))
		var returned, of []string
		for i, p := range k.Results {
			if op.Name == k.Name && !saves(k) || op.Name != k.Name && !p.Saved {
				returned = append(returned, fmt.Sprint(i))
			}
		}
		for _, i := range k.Backward.Of {
			of = append(of, fmt.Sprint(i))
		}
		add("returned", "["+strings.Join(returned, ", ")+"]")
		add("saves", "["+quoted(k.Backward.Saves)+"]")
		add("of", "["+strings.Join(of, ", ")+"]")
	}
	return all
}
