package python

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// moduleOption is the option for the name of the module with the config's kernels.
var moduleOption = emit.ModuleOption(
	"the name of the module that contains the config's kernels, with its package: mylib._kernels")

// moduleView is the data of the templates of a module.
type moduleView struct {
	Module, Last string
	Kernels      []kernelView
	Typing       string       // what the stub takes from the module typing
	Functions    []kernelView // also those that return saved results, for other targets
}

// kernelView is the data of a kernel for the module.
type kernelView struct {
	Kernel                string   // whose functions of kernels.h it calls
	Name, Function        string   // of the function of Python, and of the kernel in messages
	Table                 []string // the parameters of the base
	Count, Named          int      // of the table, and of the names
	Positional            int
	Names                 string
	TakesStream           int
	ReleasesGIL           int
	Unchecked             int      // its checks see all tensors as they came
	Stream                string   // an expression
	Sites                 []string // of out=
	Locals, Before, After []string
	Allocate, Give        []string
	Release               []string
	Results               string
	Doc                   []string // literals
	Signatures            []stubSignature
	Overloaded            bool
	DocString             string
}

// moduleAssets lists the files of the module of kernels, if there are any.
func moduleAssets(m *emit.Model) ([]emit.Asset, error) {
	if len(m.Contracts) == 0 {
		return nil, nil
	}
	name := m.Module()
	view := moduleView{Module: name, Last: name[strings.LastIndex(name, ".")+1:]}
	var errs []error
	for i := range m.Contracts {
		k, err := viewKernel(&m.Contracts[i])
		view.Kernels, errs = append(view.Kernels, k), append(errs, err)
		if saving, made := viewSaving(&m.Contracts[i]); made {
			view.Functions = append(view.Functions, saving)
		}
	}
	view.Typing = typing(view.Kernels)
	view.Functions = append(slices.Clone(view.Kernels), view.Functions...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	parts := emit.Copies("kernels/python", "", "values.h")
	return append([]emit.Asset{
		{From: "kernels/python/module.c.tmpl", To: view.Last + ".c", View: view, Parts: parts, Unit: true},
		{From: "kernels/python/module.pyi.tmpl", To: view.Last + ".pyi", View: view},
		{From: "kernels/python/py.typed", To: "py.typed"},
	}, testAssets(m, name)...), nil
}

// typing lists the names that stubs of kernels need.
func typing(all []kernelView) string {
	names := "Any"
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(k kernelView) bool {
			return slices.ContainsFunc(k.Signatures,
				func(s stubSignature) bool { return strings.Contains(s.Typed, name) })
		})
	}
	if has("Literal[") {
		names += ", Literal"
	}
	names += ", Protocol, TypeVar"
	if has("_Out") {
		names += ", overload"
	}
	return names
}

// wrapper writes the function of one kernel.
type wrapper struct {
	k       *contract.Kernel
	v       *kernelView
	results []contract.Param // the results that callers get
	out     int              // the place of out= among the names, or None
	like    int              // that of like=, or None
	outs    int              // where the results begin in the table
}

// viewSaving returns the function that also returns the values that a kernel's backward needs,
// unless it would have too many results. Callers that compute gradients use it.
func viewSaving(k *contract.Kernel) (kernelView, bool) {
	if !k.Saves() {
		return kernelView{}, false
	}
	all := *k
	all.Results = slices.Clone(k.Results)
	for i := range all.Results {
		all.Results[i].Saved = false
	}
	v, err := viewNamed(&all, dispatcher.SavingName(k))
	return v, err == nil
}

func viewKernel(k *contract.Kernel) (kernelView, error) { return viewNamed(k, k.Name) }

func viewNamed(k *contract.Kernel, name string) (kernelView, error) {
	v := kernelView{Kernel: k.Name, Name: name, Function: emit.CLiteral(k.Name)}
	w := &wrapper{k: k, v: &v, results: k.Returned(), out: contract.None, like: contract.None}
	w.v.ReleasesGIL = btoi(!k.HoldsGIL)
	w.names()
	w.table()
	w.v.Unchecked = btoi(w.checksAll())
	if v.Count > emit.MaxParameters {
		return v, emit.CannotMake(k.Name, "", "has %d arguments and results: modules of Python have room for %d",
			v.Count, emit.MaxParameters)
	}
	for i, p := range k.Args {
		w.read(i, p)
	}
	w.allocate()
	w.give()
	w.document()
	return v, nil
}

// tensors returns the results that callers receive as tensors.
func (w *wrapper) tensors() (all []contract.Param) {
	for _, p := range w.results {
		if p.Kind == contract.Tensor {
			all = append(all, p)
		}
	}
	return all
}

// candidates returns the arguments whose library can allocate the results: required ones first, and
// those with the word `cpu` last.
func (w *wrapper) candidates() (all []int) {
	for rank := range 3 {
		for i, p := range w.k.Args {
			if p.Kind == contract.Tensor && rank == min(2, 2*btoi(p.CPU)+btoi(p.Optional)) {
				all = append(all, i)
			}
		}
	}
	return all
}

// names lists the names of the arguments, and the keywords that callers add.
func (w *wrapper) names() {
	var all []string
	for _, p := range w.k.Args {
		all = append(all, emit.CLiteral(p.Name))
	}
	w.v.Positional = len(all)
	if len(w.tensors()) > 0 {
		w.out = len(all)
		all = append(all, `"out"`)
		if len(w.candidates()) == 0 {
			w.like = len(all)
			all = append(all, `"like"`)
		}
	}
	w.v.Stream = "NULL"
	if w.devices() != "kDLCPU" {
		w.v.TakesStream, w.v.Stream = 1, fmt.Sprintf("passed_[%d]", len(all))
	}
	w.v.Named = len(all)
	if len(all) == 0 {
		all = []string{`""`}
	}
	w.v.Names = strings.Join(all, ", ")
}

// devices lists the device types in the table.
func (w *wrapper) devices() string {
	if len(w.k.Devices) > 4 {
		return "DLPACKGEN_ANY_DEVICE"
	}
	var all []string
	for _, d := range w.k.Devices {
		if d.Name == "kDLCPU" && len(w.k.Devices) == 1 {
			return d.Name
		}
		all = append(all, fmt.Sprint(d.Value))
	}
	return strings.Join(all, ", ")
}

// types lists the dtypes of a tensor for the base. Only with this list can the base read tensors in
// one pass, and reject other dtypes before it copies. It has space for 16 dtypes; 0 stands for all.
func (w *wrapper) types(p contract.Param) string {
	if len(p.Types) == 0 || len(p.Types) > 16 {
		return "0"
	}
	var all []string
	for _, d := range p.Types {
		all = append(all, fmt.Sprintf("DLPACKGEN_DTYPE(%s, %d, %d)", d.Code, d.Bits, d.Lanes))
	}
	return strings.Join(all, ", ")
}

// anyTensor is a parameter that accepts tensors of every shape, because the generated checks check
// the shape.
const anyTensor = "{.name = %s, .kind = DLPACKGEN_KIND_TENSOR, .optional = %d, .writable = %d, .leading_dims = " +
	"1, .devices = {%s}, .dtypes = {%s}}"

func (w *wrapper) table() {
	for i, p := range w.k.Args {
		w.v.Table = append(w.v.Table, w.parameter(p))
		source := fmt.Sprintf("passed_[%d]", i)
		if kind(p) == "" {
			source = "Py_None"
		}
		w.before("table_[%d] = %s;", i, source)
	}
	w.outs = len(w.v.Table)
	for i, p := range w.tensors() {
		name := "out"
		if len(w.tensors()) > 1 {
			name = fmt.Sprintf("out[%d]", i)
		}
		w.v.Table = append(w.v.Table, fmt.Sprintf(anyTensor, emit.CLiteral(name), 1, 1, w.devices(), w.types(p)))
		w.v.Sites = append(w.v.Sites, fmt.Sprintf("{%s, %s, %d}", w.v.Function, emit.CLiteral(name), w.outs+i))
	}
	switch count := len(w.tensors()); {
	case count == 1:
		w.before("table_[%d] = passed_[%d];", w.outs, w.out)
	case count > 1:
		w.before("if (dlpackgen_spread(%s, passed_[%d], %d, &table_[%d])) goto done;", w.v.Function, w.out, count,
			w.outs)
	}
	if w.like != contract.None {
		w.before("table_[%d] = passed_[%d];", len(w.v.Table), w.like)
		w.v.Table = append(w.v.Table, fmt.Sprintf(anyTensor, `"like"`, 1, 0, "kDLCPU", "0"))
	}
	w.v.Count = len(w.v.Table)
	if w.v.Count == 0 {
		w.v.Table = []string{"{.name = NULL}"}
	}
}

// checksAll reports whether the kernel's checks receive every tensor unchanged, so that the base
// need not check it first.
func (w *wrapper) checksAll() bool {
	return w.like == contract.None && !slices.ContainsFunc(w.k.Args, func(p contract.Param) bool { return p.Copied })
}

func (w *wrapper) before(format string, args ...any) {
	w.v.Before = append(w.v.Before, fmt.Sprintf(format, args...))
}

func (w *wrapper) after(format string, args ...any) {
	w.v.After = append(w.v.After, fmt.Sprintf(format, args...))
}

// kind returns the kind as which the base reads an argument, or "" if the module reads it.
func kind(p contract.Param) string {
	return map[contract.Kind]string{contract.Tensor: "TENSOR", contract.Int: "INT",
		contract.Float: "FLOAT", contract.Bool: "BOOL"}[p.Kind]
}

// parameter is an argument in the table.
func (w *wrapper) parameter(p contract.Param) string {
	switch {
	case p.Kind == contract.Tensor && p.CPU:
		return fmt.Sprintf(anyTensor, emit.CLiteral(p.Name), btoi(p.Optional), btoi(p.Writes()), "kDLCPU", w.types(p))
	case p.Kind == contract.Tensor:
		return fmt.Sprintf(anyTensor, emit.CLiteral(p.Name), btoi(p.Optional), btoi(p.Writes()), w.devices(),
			w.types(p))
	case kind(p) == "":
		return fmt.Sprintf("{.name = %s, .kind = DLPACKGEN_KIND_INT, .optional = 1}", emit.CLiteral(p.Name))
	}
	text := fmt.Sprintf("{.name = %s, .kind = DLPACKGEN_KIND_%s, .optional = %d", emit.CLiteral(p.Name), kind(p),
		btoi(p.Optional || p.Default != nil))
	if value := literal(p); value != "" && p.Kind == contract.Float {
		text += ", .float_default = " + value
	} else if value != "" {
		text += ", .int_default = " + value
	}
	return text + "}"
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
