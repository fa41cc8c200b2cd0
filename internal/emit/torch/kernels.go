package torch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// kernelParts are the files that only described_operators.hpp includes.
var kernelParts = []string{
	"arguments.hpp", "base.hpp", "batched.hpp", "bits.hpp", "borrowed.hpp", "derivative.hpp", "described.hpp",
	"kernel.hpp", "registration.hpp",
}

// kernelView is the data of the templates of kernels.
type kernelView struct {
	Version, Guard string
	Inline         string // the word before the namespace of the release
	Namespaces     []operators
	HasGradients   bool
}

// operators are the operators of one namespace.
type operators struct {
	Name    string
	Inner   string // the namespace in C++, which ends as no kernel's does
	Kernels []operator
	Blocks  []block
}

// block is the registrations for one dispatch key.
type block struct {
	Key     string
	Call    string // the function that does it
	More    string // its further arguments
	Kernels []operator
}

// operator is the data of a kernel for C++.
type operator struct {
	Name, Namespace, Doc, Form string
	Type                       string // ends with an underscore, as no kernel does
	Schema                     string
	Result, Parameters         string // of the signature in C++
	Arguments                  []string
	Backward                   string // a type, or void
	Copied                     []bool
	OnCPU                      []bool
	Device                     string   // the first of the kernel's
	Fill                       []string // lines that put the arguments into a call
	Parameter                  []string // of fill
	Results                    []string
	Returned                   []int // the results that callers get
	Shapes                     []string
	Numbers                    []string
	Gradients                  []gradient // one, or none
	Kernel                     string     // in kernels.h
	Taken                      []string   // the parameters in C++, with their names
	Passing                    string     // their names
	Batching                   string     // of batched.hpp
	// By argument: whether it begins with `...`, and whether it must be contiguous.
	Leading, Contiguous []bool
}

// gradient is the data of the autograd function of a kernel with a backward.
type gradient struct {
	Saving   string   // the type of the kernel that also returns saved results
	Forward  []string // lines
	Returned []string // expressions of the results that callers get
	Back     []string // arguments of the backward
	Of       []string // expressions of the gradients, one for each argument
	// The lists of the last three.
	ReturnedList, Passing, OfList string
}

// kernelAssets lists the files that register the kernels, if there are any.
func kernelAssets(m *emit.Model) ([]emit.Asset, error) {
	if len(m.Contracts) == 0 {
		return nil, nil
	}
	var errs []error
	version := emit.Namespace(m.Release)
	guard := "DLPACKGEN_" + strings.ToUpper(version) + "_"
	view := kernelView{Version: version, Guard: guard + "PYTORCH_", Inline: guard + "INLINE"}
	for i := range m.Contracts {
		k := &m.Contracts[i]
		if wrong := dispatcher.Unregistered(m.Release, k); len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		view.Namespaces = place(m.Release, view.Namespaces, k)
		view.HasGradients = view.HasGradients || k.Backward != nil
	}
	return []emit.Asset{
		{From: "torch/kernels/described_kernels.cpp.tmpl", To: folder + "described_kernels.cpp", View: view},
		{From: "torch/kernels/described_operators.hpp.tmpl", To: folder + "described_operators.hpp", View: view,
			Guards: true, Parts: emit.Copies("torch", "", kernelParts...)},
	}, errors.Join(errs...)
}

// place adds a kernel to its namespace and its dispatch keys. If its backward saves results, a
// second operator returns these as well.
func place(r *spec.Release, all []operators, k *contract.Kernel) []operators {
	i := slices.IndexFunc(all, func(n operators) bool { return n.Name == k.Namespace })
	if i < 0 {
		i, all = len(all), append(all, operators{Name: k.Namespace, Inner: k.Namespace + "_"})
	}
	all[i].place(r, k, viewKernel(k, k.Returned(), k.Name))
	if k.Backward != nil && len(k.Returned()) < len(k.Results) {
		saving := viewKernel(k, k.Results, dispatcher.SavingName(k))
		saving.Backward, saving.Gradients = "void", nil
		all[i].place(r, k, saving)
	}
	return all
}

func (n *operators) place(r *spec.Release, k *contract.Kernel, op operator) {
	n.Kernels = append(n.Kernels, op)
	n.add(op, "Meta", "implement_meta", "")
	n.add(op, "Autograd", "implement_autograd", "")
	if len(k.Written()) > 0 {
		n.add(op, "ADInplaceOrView", "implement_versions", "")
		n.add(op, "Negative", "implement_bits", "")
		n.add(op, "Conjugate", "implement_bits", "")
	}
	var placed []string
	for _, d := range k.Devices {
		if key := dispatcher.Key(r, d); !slices.Contains(placed, key) {
			placed = append(placed, key)
			n.add(op, key, "implement", ", c10::DispatchKey::"+key)
		}
	}
	if op.Batching != dispatcher.BatchEach {
		n.add(op, "FuncTorchBatched", "implement_batched", "")
	}
}

// add adds an operator to a dispatch key.
func (n *operators) add(op operator, key, call, more string) {
	i := slices.IndexFunc(n.Blocks, func(b block) bool { return b.Key == key })
	if i < 0 {
		i, n.Blocks = len(n.Blocks), append(n.Blocks, block{Key: key, Call: call, More: more})
	}
	n.Blocks[i].Kernels = append(n.Blocks[i].Kernels, op)
}

func viewKernel(k *contract.Kernel, results []contract.Param, name string) operator {
	op := operator{Name: name, Namespace: k.Namespace, Form: k.Form,
		Type: name + "_", Schema: dispatcher.Schema(k, results), Backward: "void", Kernel: k.Name,
		Batching: dispatcher.Batching(k), Device: fmt.Sprint(k.Devices[0].Value)}
	op.Doc = emit.CComment(strings.TrimSpace(fmt.Sprintf("%s::%s%s. %s", k.Namespace, name, op.Schema, k.Doc)))
	op.Schema = emit.CLiteral(name + op.Schema)
	var types []string
	for i, p := range k.Args {
		types, op.Taken = append(types, cxx(p)), append(op.Taken, "[[maybe_unused]] "+cxx(p)+" "+p.Name)
		op.Arguments = append(op.Arguments, p.Name)
		op.Copied, op.OnCPU = append(op.Copied, p.Copied), append(op.OnCPU, p.CPU)
		op.Leading = append(op.Leading, k.Leads(p))
		op.Contiguous = append(op.Contiguous, p.Layout == contract.Contiguous || p.Layout == contract.AnyOrder)
		op.Parameter = append(op.Parameter, passed(p)+" "+p.Name)
		op.Fill = append(op.Fill, fill(i, p)...)
		op.Numbers = append(op.Numbers, number(k, i, p)...)
	}
	op.Parameters, op.Passing = strings.Join(types, ", "), strings.Join(op.Arguments, ", ")
	for i, p := range k.Results {
		op.Results = append(op.Results, p.Name)
		if slices.ContainsFunc(results, func(g contract.Param) bool { return g.Name == p.Name }) {
			op.Returned = append(op.Returned, i)
		}
	}
	op.Result = returned(len(results))
	op.Shapes = shapes(k)
	if k.Backward != nil {
		op.Backward, op.Gradients = k.Backward.Kernel+"_", []gradient{viewGradient(k)}
	}
	return op
}

// returned returns the type of a number of tensors.
func returned(count int) string {
	switch count {
	case 0:
		return "void"
	case 1:
		return "at::Tensor"
	}
	return "std::tuple<" + strings.TrimSuffix(strings.Repeat("at::Tensor, ", count), ", ") + ">"
}

// cxxKinds are the C++ types of parameters by kind, except tensors.
var cxxKinds = map[contract.Kind]string{contract.Int: "int64_t", contract.Float: "double", contract.Bool: "bool",
	contract.Str: "c10::string_view", contract.Ints: "at::IntArrayRef", contract.Floats: "at::ArrayRef<double>"}

// cxx returns the type of a parameter, as the dispatcher passes it.
func cxx(p contract.Param) string {
	switch {
	case p.Kind == contract.Tensor && p.Optional:
		return "const std::optional<at::Tensor>&"
	case p.Kind == contract.Tensor && p.Writes():
		return "at::Tensor&"
	case p.Kind == contract.Tensor:
		return "const at::Tensor&"
	case p.Kind == contract.Ints && p.Optional:
		return "at::OptionalIntArrayRef"
	case p.Kind == contract.Number && p.Var != contract.None:
		return "const at::Scalar&"
	}
	text := cxxKinds[p.Kind]
	if p.Kind == contract.Number {
		text = cxxKinds[dispatcher.NumberKind(p)]
	}
	if p.Optional {
		text = "std::optional<" + text + ">"
	}
	return text
}

// passed returns the type of an argument of fill().
func passed(p contract.Param) string {
	switch p.Kind {
	case contract.Tensor:
		if p.Writes() {
			return "DLTensor*"
		}
		return "const DLTensor*"
	case contract.Str:
		return "const char*"
	case contract.Ints:
		return "detail::List<int64_t>"
	case contract.Floats:
		return "detail::List<double>"
	}
	text := cxxKinds[p.Kind]
	if p.Kind == contract.Number {
		text = cxxKinds[dispatcher.NumberKind(p)]
		if p.Var != contract.None {
			return "const at::Scalar&"
		}
	}
	if p.Optional {
		return "const " + text + "*"
	}
	return text
}

// fill writes the assignment of an argument to the struct of a call.
func fill(i int, p contract.Param) []string {
	at := "made_.args." + p.Name
	switch {
	case p.Kind == contract.Tensor:
		return []string{fmt.Sprintf("%s = %s;", at, p.Name), fmt.Sprintf("made_.flags.%s = 0;", p.Name)}
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		return []string{fmt.Sprintf("%s.items = %s.items;", at, p.Name),
			fmt.Sprintf("%s.count = %s.count;", at, p.Name)}
	case p.Kind == contract.Number && p.Var != contract.None:
		return []string{fmt.Sprintf("%s = detail::number_of<decltype(%s)>(%s);", at, at, p.Name)}
	case p.Kind == contract.Number && p.Optional:
		return []string{fmt.Sprintf("%s = numbers_.narrow(detail::described_site<K_, %d>, %s, %s);", at, i, dtype(p),
			p.Name)}
	case p.Kind == contract.Number && dispatcher.NumberKind(p) != contract.Bool:
		return []string{fmt.Sprintf("%s = detail::narrow<decltype(%s)>(detail::described_site<K_, %d>, %s, %s);", at,
			at, i, dtype(p), p.Name)}
	}
	return []string{fmt.Sprintf("%s = %s;", at, p.Name)}
}

// dtype formats the dtype of a scalar.
func dtype(p contract.Param) string {
	d := p.Types[0]
	return fmt.Sprintf("DLDataType{%s, %d, %d}", d.Code, d.Bits, d.Lanes)
}

// number writes the comparison of a variable's scalar with the dtype of the call.
func number(k *contract.Kernel, i int, p contract.Param) []string {
	if p.Kind != contract.Number || p.Var == contract.None {
		return nil
	}
	binder := k.Args[k.Vars[p.Var].Arg].Name
	return []string{fmt.Sprintf("detail::require_number(detail::described_site<K_, %d>, made_.args.%s->dtype, "+
		"%s);", i, binder, p.Name)}
}
