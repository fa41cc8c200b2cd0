package jax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// kernelView is the data of a kernel for C and Python.
type kernelView struct {
	Name       string
	Count      int // of the parameters
	Tensors    int // of those that are tensors
	Attributes int
	Reads      []string // lines that read a frame
	Results    []string
	Sites      []string
	All        string // the addresses of the results
	Passed     string // the same behind commas
	Handlers   []handler
	Direct     string // the call of the function without messages; or ""

	Target    string   // XLA's name, a literal of Python
	Signature string   // of the function in Python
	Doc       string   // the docstring, with its quotes
	Described []string // lines of Python: the arguments of _kernel()
}

// handler is the handler for a platform.
type handler struct{ Kernel, Symbol, Device, Traits, Platform string }

func viewKernel(k *contract.Kernel) kernelView {
	v := kernelView{Name: k.Name, Count: len(k.Args), Attributes: len(attributes(k)), Reads: reads(k)}
	for _, p := range k.Args {
		if p.Kind == contract.Tensor {
			v.Tensors++
		}
	}
	v.viewResults(k)
	if checks.IsDirect(k) {
		v.Direct = direct(k)
	}
	for _, d := range k.Devices {
		traits := "0"
		if d.Graphs {
			traits = "DLPACKGEN_XLA_FFI_COMMAND_BUFFERS"
		}
		platform := platforms[d.Name]
		v.Handlers = append(v.Handlers, handler{k.Name,
			"dlpackgen_jax_" + strings.ToLower(platform) + "_" + k.Name, fmt.Sprint(d.Value), traits, platform})
	}
	v.viewPython(k)
	return v
}

func direct(k *contract.Kernel) string {
	var values []string
	for _, p := range k.Args {
		values = append(values, "kernel_.args."+p.Name)
	}
	for i := range k.Results {
		values = append(values, fmt.Sprintf("&made_[%d].tensor", i))
	}
	return fmt.Sprintf("dlpackgen_try_kernel_%s(%s, stream_, &failure_)", k.Name, strings.Join(values, ", "))
}

func (v *kernelView) viewResults(k *contract.Kernel) {
	var all []string
	for i, p := range k.Results {
		v.Results = append(v.Results, p.Name)
		v.Sites = append(v.Sites, fmt.Sprintf(
			"{%s, %s, %d}", emit.CLiteral(k.Name), emit.CLiteral(p.Name), len(k.Args)+i))
		all = append(all, fmt.Sprintf("&made_[%d].tensor", i))
	}
	v.All = strings.Join(all, ", ")
	if len(all) > 0 {
		v.Passed = ", " + v.All
	}
}

// maskName is the attribute with a bit for each argument that is present. No argument has this
// name.
const maskName = "?"

// attributes numbers the attributes of a kernel in XLA's order.
func attributes(k *contract.Kernel) map[string]int {
	var names []string
	for _, p := range k.Args {
		if p.Kind != contract.Tensor {
			names = append(names, p.Name)
		}
		if p.Optional && !slices.Contains(names, maskName) {
			names = append(names, maskName)
		}
	}
	slices.Sort(names)
	places := map[string]int{}
	for i, name := range names {
		places[name] = i
	}
	return places
}
