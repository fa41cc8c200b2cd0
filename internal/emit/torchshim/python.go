package torchshim

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// symbols are the formats of Python for numbers that may be symbols.
var symbols = dispatcher.Words{
	Local: "%s_dim_", Literal: "%s", Argument: "arguments['%s']", Size: "arguments['%s'].numel()",
	Shape: "arguments['%s'].shape[%s]", Item: "arguments['%s'][%s]", Negate: "(-%s)",
	FloorDivide: "shim.floor_divide(%s, %s)", Remainder: "shim.floor_remainder(%s, %s)",
	Least: "shim.least(%s, %s)", Greatest: "shim.greatest(%s, %s)", Quotient: "//",
	Extent: "shim.extent(arguments['%s'], %d, %d)", Leading: "*shim.leading(arguments['%s'], %d, %d)",
}

// pythonArgument describes an argument for dlpackgen_torchshim.py.
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

// fields returns the optional fields of an operator in Python.
func fields(k *contract.Kernel, op *operator) (all []string) {
	add := func(name, value string) { all = append(all, name+"="+value+",") }
	if op.BoxedName != op.Name {
		add("numbers", fmt.Sprintf("%q", op.BoxedName))
	}
	if op.Name == k.Name && k.Saves() {
		add("saving", fmt.Sprintf("%q", dispatcher.SavingName(k)))
	}
	if batching := dispatcher.Batching(k); batching != dispatcher.BatchEach {
		add("batching", fmt.Sprintf("%q", batching))
	}
	if k.Backward != nil {
		add("backward", fmt.Sprintf("%q", k.Backward.Kernel))
		var returned, of []string
		for i, p := range k.Results {
			if op.Name == k.Name && !k.Saves() || op.Name != k.Name && !p.Saved {
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
