package paddle

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/emit/traced"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// kernelView is the data of a kernel for Python.
type kernelView struct {
	Name, Signature, Doc string
	Described            []string // the arguments of _kernel()
	Traced               bool     // a static graph may contain it
	Symbols, Shapes      []string // of the results, with extents that may be unknown
}

func viewKernel(k *contract.Kernel) kernelView {
	v := kernelView{Name: k.Name, Signature: signature(k), Doc: traced.Document(k, false, "")}
	v.Described = traced.Described("paddle", k)
	if k.Saves() {
		v.Described = append(v.Described, "saving="+traced.Quoted(dispatcher.SavingName(k))+",")
	}
	if reason := outsideGraphs(k); reason != "" {
		v.Described = append(v.Described, "outside="+traced.Quoted(reason)+",")
	} else {
		v.Traced = true
		v.Symbols, v.Shapes = symbols.Shapes(k)
		v.Described = append(v.Described, "shapes=_shapes_of_"+k.Name+",")
	}
	if !takes(k.Args) && takes(k.Returned()) {
		v.Described = append(v.Described, "like=True,")
	}
	v.Described = append(v.Described, traced.Backward(k)...)
	return v
}

// takes reports whether a parameter is a tensor.
func takes(all []contract.Param) bool {
	for _, p := range all {
		if p.Kind == contract.Tensor {
			return true
		}
	}
	return false
}

// signature returns the signature with the module's keywords that Paddle's users need.
func signature(k *contract.Kernel) string {
	text := strings.Join(emit.PythonArguments(k), ", ")
	if !takes(k.Returned()) {
		return text
	}
	if text != "" {
		text += ", "
	}
	return text + "*, out=None"
}

// symbols are the formats of kernels_paddle.py for extents that may be unknown.
var symbols = dispatcher.Words{
	Local: "%s_dim_", Literal: "%s", Argument: "arguments['%s']", Size: "_size(arguments['%s'])",
	Shape: "arguments['%s'].shape[%s]", Item: "arguments['%s'][%s]", Negate: "(-%s)",
	FloorDivide: "_floor_divide(%s, %s)", Remainder: "_floor_remainder(%s, %s)",
	Least: "_least(%s, %s)", Greatest: "_greatest(%s, %s)", Quotient: "//",
	Extent: "_extent(arguments['%s'], %d, %d)", Leading: "*_leading(arguments['%s'], %d, %d)",
}
