package jax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// kernelView is a kernel as C and Python spell it.
type kernelView struct {
	Name       string
	Parameters []string // rows of the table in C
	Count      int      // of the parameters
	Tensors    int      // of those that are tensors
	Attributes int
	Masked     string // whether an attribute tells which arguments are there
	Fill       []string
	Results    []string
	Sites      []string
	All        string // the addresses of the results
	Passed     string // the same behind commas
	Handlers   []handler

	Target    string   // XLA's name, a literal of Python
	Signature string   // of the function in Python
	Doc       string   // its text
	Described []string // lines of Python: the arguments of _kernel()
}

// handler is one for a platform.
type handler struct{ Kernel, Symbol, Device, Traits, Platform string }

func viewKernel(k *contract.Kernel) kernelView {
	v := kernelView{Name: k.Name, Count: len(k.Args), Masked: "0"}
	places := attributes(k)
	v.Attributes = len(places)
	if _, masked := places[maskName]; masked {
		v.Masked = "1"
	}
	for i, p := range k.Args {
		v.Parameters = append(v.Parameters, row(p, places[p.Name]))
		v.Fill = append(v.Fill, fill(i, p)...)
		if p.Kind == contract.Tensor {
			v.Tensors++
		}
	}
	v.viewResults(k)
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

func (v *kernelView) viewResults(k *contract.Kernel) {
	var all []string
	for i, p := range k.Results {
		v.Results = append(v.Results, p.Name)
		v.Sites = append(v.Sites, fmt.Sprintf("{%s, %s, %d}", emit.CLiteral(k.Name), emit.CLiteral(p.Name), len(k.Args)+i))
		all = append(all, fmt.Sprintf("&made_[%d].tensor", i))
	}
	v.All = strings.Join(all, ", ")
	if len(all) > 0 {
		v.Passed = ", " + v.All
	}
}

// maskName is the attribute that tells which arguments are there. No argument is called so.
const maskName = "?"

// attributes numbers the attributes of a kernel as XLA sorts them.
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

// form is what a parameter is to XLA, as values.h and scalars.py name it.
func form(p contract.Param) string {
	switch p.Kind {
	case contract.Tensor:
		return "tensor"
	case contract.Int:
		return "integer"
	case contract.Float:
		return "real"
	case contract.Bool:
		return "truth"
	case contract.Str:
		return "text"
	case contract.Ints:
		return "integers"
	case contract.Floats:
		return "reals"
	}
	if p.Var != contract.None {
		return "number"
	}
	switch contract.CTypes[p.Types[0].Name] {
	case "float", "double":
		return "real"
	case "bool":
		return "truth"
	}
	return "integer"
}

// row is a parameter in the table.
func row(p contract.Param, place int) string {
	return fmt.Sprintf("DLPACKGEN_JAX_%s, %t, %t, %t, %d", strings.ToUpper(form(p)), p.Optional,
		p.Kind == contract.Tensor && p.Writes(), p.Layout == contract.ColumnMajor, place)
}

// fill puts an argument into the struct of a call.
func fill(i int, p contract.Param) []string {
	to, from := "kernel_->args."+p.Name, fmt.Sprintf("values_[%d]", i)
	switch p.Kind {
	case contract.Tensor:
		ctype := "const DLTensor*"
		if p.Writes() {
			ctype = "DLTensor*"
		}
		return []string{fmt.Sprintf("%s = (%s)%s.items;", to, ctype, from), fmt.Sprintf("kernel_->flags.%s = 0;", p.Name)}
	case contract.Str:
		return []string{fmt.Sprintf("%s = (const char*)%s.items;", to, from)}
	case contract.Ints:
		return []string{fmt.Sprintf("%s.items = (const int64_t*)%s.items;", to, from),
			fmt.Sprintf("%s.count = %s.count;", to, from)}
	case contract.Floats:
		return []string{fmt.Sprintf("%s.items = (const double*)%s.items;", to, from),
			fmt.Sprintf("%s.count = %s.count;", to, from)}
	case contract.Number:
		if p.Var != contract.None {
			return []string{fmt.Sprintf("%s.integer = %s.integer;", to, from), fmt.Sprintf("%s.real = %s.real;", to, from)}
		}
	}
	value := scalar(p, from)
	if !p.Optional {
		return []string{fmt.Sprintf("%s = %s;", to, value)}
	}
	narrow := fmt.Sprintf("%s.narrow.as_%s", from, ctype(p))
	return []string{fmt.Sprintf("%s = %s.is_given ? &%s : NULL;", to, from, narrow),
		fmt.Sprintf("if (%s.is_given) %s = %s;", from, narrow, value)}
}

func ctype(p contract.Param) string {
	switch p.Kind {
	case contract.Int:
		return "int64_t"
	case contract.Float:
		return "double"
	case contract.Bool:
		return "bool"
	}
	return contract.CTypes[p.Types[0].Name]
}

// scalar is a value in the type that C takes.
func scalar(p contract.Param, from string) string {
	switch form(p) {
	case "truth":
		return from + ".integer != 0"
	case "real":
		return "(" + ctype(p) + ")" + from + ".real"
	}
	return "(" + ctype(p) + ")" + from + ".integer"
}
