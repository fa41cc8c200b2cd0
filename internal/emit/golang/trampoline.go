package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// trampolineView is the data of a kernel for the templates of trampolines.
type trampolineView struct {
	Name, Go string
	Fields   []string // of the call in C
	Choices  []choiceView
}

// choiceView is the data of a choice of dtypes.
type choiceView struct {
	Number   int
	Function string   // of Go, with its types
	Params   []string // the types that it must have, with their names as comments
	Head     string   // of the function of C
	Stores   []string
	Passes   []string // what Go passes
}

// trampoline writes the C functions of a kernel, which call its Go function.
type trampoline struct {
	b    *binding
	k    *contract.Kernel
	errs []error
}

func newTrampoline(b *binding, k *contract.Kernel) *trampoline { return &trampoline{b: b, k: k} }

func (w *trampoline) view() trampolineView {
	v := trampolineView{Name: w.k.Name, Go: w.k.GoFunc}
	for i, p := range w.k.Args {
		v.Fields = append(v.Fields, w.fields(place('a', i), p, false)...)
	}
	for i, p := range w.k.Results {
		v.Fields = append(v.Fields, w.fields(place('r', i), p, true)...)
	}
	for i, f := range w.k.Devices[0].Functions {
		v.Choices = append(v.Choices, w.choice(i, f))
	}
	return v
}

// place returns the C name of an argument or a result, whose own name may be a keyword in Go.
func place(what rune, i int) string { return fmt.Sprintf("%c%d", what, i) }

// fields declares an argument or a result in the struct of a call.
func (w *trampoline) fields(at string, p contract.Param, result bool) []string {
	switch {
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		return []string{"const void* " + at, "int64_t " + at + "n"}
	case p.Kind == contract.Tensor || p.Kind == contract.Str || p.Optional || result:
		return []string{"const void* " + at}
	case p.Kind == contract.Number && p.Var != contract.None:
		return []string{"int64_t " + at, "double " + at + "f"}
	}
	return []string{p.CType() + " " + at}
}

// choice writes one C function, and its call of the Go function.
func (w *trampoline) choice(i int, f contract.Function) choiceView {
	v := choiceView{Number: i, Function: "functions." + w.k.GoFunc + w.types(f), Head: checks.Head(w.k, f)}
	for i, p := range w.k.Args {
		name, at := p.Name, place('a', i)
		v.Params = append(v.Params, w.goType(p, f, false)+", // "+p.Name)
		v.Stores = append(v.Stores, stores(at, name, p, w.dtype(p, f))...)
		v.Passes = append(v.Passes, w.pass("call."+at, p, f))
	}
	for i, p := range w.k.Results {
		at := place('r', i)
		v.Params = append(v.Params, w.goType(p, f, true)+", // "+p.Name)
		v.Stores = append(v.Stores, fmt.Sprintf("call_.%s = %s;", at, p.Name))
		v.Passes = append(v.Passes, w.passResult("call."+at, p, f))
	}
	return v
}

// types returns the dtypes of a choice, in brackets.
func (w *trampoline) types(f contract.Function) string {
	var all []string
	for i, v := range w.k.Vars {
		all = append(all, w.variable(v.Name, v.Types[f.Types[i]]))
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// variable returns the Go type of a variable's dtype.
func (w *trampoline) variable(name string, d spec.DType) string {
	made := w.element(d)
	if made == "" {
		w.reject("",
			"has dtype %s for %s, which Go has no type for in memory: describe a kernel in C, or take any[...]",
			d.Name, name)
	}
	return made
}

func (w *trampoline) reject(param, format string, args ...any) {
	made := emit.CannotMake(w.k.Name, param, format, args...)
	if !slices.ContainsFunc(w.errs, func(e error) bool { return e.Error() == made.Error() }) {
		w.errs = append(w.errs, made)
	}
}

// element returns the Go type of a dtype's elements in memory, or "".
func (w *trampoline) element(d spec.DType) string {
	for _, e := range w.b.elements() {
		if e.DType.Name != d.Name || e.narrow() {
			continue
		}
		if e.own != nil {
			return "dlpack." + e.name()
		}
		return e.name()
	}
	return ""
}

// dtype returns the dtype of a parameter for a choice, or none if it is determined in the call.
func (w *trampoline) dtype(p contract.Param, f contract.Function) spec.DType {
	if p.Var != contract.None {
		return w.k.Vars[p.Var].Types[f.Types[p.Var]]
	}
	if len(p.Types) == 1 {
		return p.Types[0]
	}
	return spec.DType{}
}

// goType returns the type of a parameter of the author's function.
func (w *trampoline) goType(p contract.Param, f contract.Function, result bool) string {
	star := ""
	if p.Optional || result {
		star = "*"
	}
	switch p.Kind {
	case contract.Tensor:
		if element := w.element(w.dtype(p, f)); element != "" {
			return "dlpack.Array[" + element + "]"
		}
		return "dlpack.Tensor"
	case contract.Ints:
		return "[]int64"
	case contract.Floats:
		return "[]float64"
	case contract.Str:
		return star + "string"
	case contract.Number:
		return star + w.number(p, f)
	}
	return star + goTypes[p.CType()]
}

// number returns the Go type of a scalar of a dtype. For a variable, this is the type of its
// tensors' elements.
func (w *trampoline) number(p contract.Param, f contract.Function) string {
	if p.Var != contract.None {
		return w.element(w.dtype(p, f))
	}
	return goTypes[p.CType()]
}

// stores returns the lines of C that assign an argument to the call.
func stores(at, name string, p contract.Param, d spec.DType) []string {
	switch {
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		return []string{fmt.Sprintf("call_.%s = %s;", at, name), fmt.Sprintf("call_.%sn = %s_count_;", at, name)}
	case p.Kind == contract.Number && p.Var != contract.None:
		if real := contract.CTypes[d.Name]; real == "float" || real == "double" {
			at += "f"
		}
	}
	return []string{fmt.Sprintf("call_.%s = %s;", at, name)}
}

// pass returns the expression of an argument in the call of the Go function.
func (w *trampoline) pass(at string, p contract.Param, f contract.Function) string {
	switch p.Kind {
	case contract.Tensor:
		flags := "dlpack.FlagReadOnly"
		if p.Writes() {
			flags = "0"
		}
		return w.tensor(at, flags, p, f)
	case contract.Ints:
		return "unsafe.Slice((*int64)(" + at + "), int(" + at + "n))"
	case contract.Floats:
		return "unsafe.Slice((*float64)(" + at + "), int(" + at + "n))"
	case contract.Str:
		if p.Optional {
			return "maybeText(" + at + ")"
		}
		return "C.GoString((*C.char)(" + at + "))"
	}
	typeName := strings.TrimPrefix(w.goType(p, f, false), "*")
	switch {
	case p.Optional:
		return "(*" + typeName + ")(" + at + ")"
	case p.Kind == contract.Number && p.Var != contract.None:
		return w.converted(at, typeName, w.dtype(p, f))
	}
	return typeName + "(" + at + ")"
}

// converted returns the expression of a scalar whose dtype is determined in the call.
func (w *trampoline) converted(at, typeName string, d spec.DType) string {
	switch ctype := contract.CTypes[d.Name]; {
	case strings.HasPrefix(typeName, "dlpack.") && ctype == "float":
		return typeName + "From(float32(" + at + "f))"
	case ctype == "float" || ctype == "double":
		return typeName + "(" + at + "f)"
	}
	return typeName + "(" + at + ")"
}

func (w *trampoline) tensor(at, flags string, p contract.Param, f contract.Function) string {
	if element := w.element(w.dtype(p, f)); element != "" {
		return "dlpack.CheckedArray[" + element + "]((*dlpack.DLTensor)(" + at + "), " + flags + ")"
	}
	return "dlpack.CheckedTensor((*dlpack.DLTensor)(" + at + "), " + flags + ")"
}

// passResult returns the expression of a result.
func (w *trampoline) passResult(at string, p contract.Param, f contract.Function) string {
	if p.Kind == contract.Tensor {
		return w.tensor(at, "0", p, f)
	}
	typeName := strings.TrimPrefix(w.goType(p, f, true), "*")
	if p.Var != contract.None && strings.HasPrefix(typeName, "dlpack.") && typeName != "dlpack.Bool" {
		w.reject(p.Name, "returns a scalar of %s, which C represents as float: return a tensor of rank 0, as %s[]",
			w.dtype(p, f).Name, w.k.Vars[p.Var].Name)
	}
	return "(*" + typeName + ")(" + at + ")"
}
