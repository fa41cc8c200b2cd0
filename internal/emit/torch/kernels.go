package torch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
)

// kernelTemplates are made where the config has kernels, and only there.
var kernelTemplates = []string{
	"kernels.cpp.tmpl", "kernels.h.tmpl", "operators.hpp.tmpl", "stable_kernels.cpp.tmpl",
	"stable_kernels.py.tmpl",
}

// kernelView is what the templates of kernels show.
type kernelView struct {
	Version, Guard string
	Inline         string // the word before the namespace of the release
	Operators      string // the header with the types of the kernels
	Headers        []string
	Declared       []operator
	Errors         []string
	Namespaces     []operators
}

// operators are the kernels of one namespace.
type operators struct {
	Name      string
	Inner     string // the namespace in C++, which ends as no kernel's does
	Kernels   []operator
	Blocks    []block
	BackEnds  []block             // those of the blocks that are no layer of PyTorch's own
	Described []describedOperator // those of the kernels that have args and returns
}

// block registers what stands under one dispatch key.
type block struct {
	Key     string
	Call    string // the function that does it
	More    string // its further arguments
	Kernels []operator
}

// operator is a kernel as C and C++ spell it.
type operator struct {
	Name, Namespace, Symbol, Doc, Form string
	Type                               string // ends with an underscore, as no kernel does
	Schema                             string
	Result, Parameters                 string // of the signature in C++
	Prototype                          string // the parameters in C
	Arguments                          []string
	Strided                            bool
	Likes                              []int
	Backward                           string // a type, or void
	Error                              string // an expression of code
	StableResult, StableParameters     string // of the signature in the stable ABI
	Places                             string // arguments in Python: the places of what has a role
	BackwardName                       string // or ""
}

// kernelAssets lists the registration of the kernels, if there are any.
func kernelAssets(m *emit.Model) ([]emit.Asset, error) {
	if len(m.Kernels) == 0 {
		return nil, nil
	}
	if err := checkKernels(m.Kernels); err != nil {
		return nil, err
	}
	return emit.Showing(viewKernels(m), emit.Copies("torch/kernels", folder, kernelTemplates...)), nil
}

// checkKernels names what PyTorch cannot do.
func checkKernels(all []kernel.Kernel) error {
	var errs []error
	for _, k := range all {
		if len(k.Schema.Tensors()) == 0 {
			errs = append(errs,
				fmt.Errorf("kernel %s takes no tensor: PyTorch finds the back end of an operator by its tensors",
					k.Name))
		}
		for _, d := range k.Devices {
			if dispatcher.Key(d) == "" {
				errs = append(errs,
					fmt.Errorf("kernel %s is for %s, which PyTorch has no back end for", k.Name, d.Name))
			}
		}
	}
	return errors.Join(errs...)
}

func viewKernels(m *emit.Model) kernelView {
	version := emit.Namespace(m.Release)
	guard := "DLPACKGEN_" + strings.ToUpper(version) + "_"
	v := kernelView{Version: version, Guard: guard + "PYTORCH_", Inline: guard + "INLINE", Operators: "operators.hpp"}
	for _, k := range m.Kernels {
		op := viewKernel(k)
		if k.Header == "" {
			v.Declared = append(v.Declared, op)
		} else if !slices.Contains(v.Headers, k.Header) {
			v.Headers = append(v.Headers, k.Header)
		}
		if k.Error != "" && k.Header == "" && !slices.Contains(v.Errors, k.Error) {
			v.Errors = append(v.Errors, k.Error)
		}
		v.Namespaces = place(v.Namespaces, k, op)
	}
	return v
}

// place files an operator under its namespace and its dispatch keys.
func place(all []operators, k kernel.Kernel, op operator) []operators {
	i := slices.IndexFunc(all, func(n operators) bool { return n.Name == k.Namespace })
	if i < 0 {
		i, all = len(all), append(all, operators{Name: k.Namespace, Inner: k.Namespace + "_"})
	}
	n := &all[i]
	n.Kernels = append(n.Kernels, op)
	n.Blocks = add(n.Blocks, block{Key: "Meta", Call: "implement_meta"}, op)
	n.Blocks = add(n.Blocks, block{Key: "Autograd", Call: "implement_autograd"}, op)
	if k.Schema.Mutates() {
		n.Blocks = add(n.Blocks, block{Key: "ADInplaceOrView", Call: "implement_versions"}, op)
		n.Blocks = add(n.Blocks, block{Key: "Negative", Call: "implement_bits"}, op)
		n.Blocks = add(n.Blocks, block{Key: "Conjugate", Call: "implement_bits"}, op)
	}
	var placed []string
	for _, d := range k.Devices {
		if key := dispatcher.Key(d); !slices.Contains(placed, key) {
			placed = append(placed, key)
			b := block{Key: key, Call: "implement", More: ", c10::DispatchKey::" + key}
			n.Blocks, n.BackEnds = add(n.Blocks, b, op), add(n.BackEnds, b, op)
		}
	}
	return all
}

// add files an operator under a dispatch key.
func add(all []block, under block, op operator) []block {
	i := slices.IndexFunc(all, func(b block) bool { return b.Key == under.Key })
	if i < 0 {
		i, all = len(all), append(all, under)
	}
	all[i].Kernels = append(all[i].Kernels, op)
	return all
}

func viewKernel(k kernel.Kernel) operator {
	op := operator{
		Name: k.Name, Namespace: k.Namespace, Strided: k.Strided, Type: k.Name + "_", Symbol: k.Symbol, Form: k.Form,
		Schema:    k.Schema.String(),
		Doc:       strings.TrimSpace(fmt.Sprintf("%s::%s%s. %s", k.Namespace, k.Name, k.Schema, k.Doc)),
		Result:    []string{"void", "at::Tensor"}[min(len(k.Schema.Results), 1)],
		Prototype: prototype(k.Schema),
		Backward:  "void", Error: "nullptr",
	}
	if n := len(k.Schema.Results); n > 1 {
		op.Result = "std::tuple<" + strings.TrimSuffix(strings.Repeat("at::Tensor, ", n), ", ") + ">"
	}
	if k.Backward != "" {
		op.Backward = k.Backward + "_"
	}
	if k.Error != "" {
		op.Error = "::" + k.Error + "(code)"
	}
	op.BackwardName = k.Backward
	op.spell(k.Schema)
	return op
}

// spell writes out what follows from the schema.
func (op *operator) spell(schema kernel.Schema) {
	var parameters []string
	var tensors, written []int
	for i, a := range schema.Arguments {
		op.Arguments = append(op.Arguments, a.Name)
		if a.Kind == kernel.Tensor {
			tensors = append(tensors, i)
		}
		if a.Writes() {
			written = append(written, i)
		}
		parameters = append(parameters, strings.TrimSpace(cxxType(a)))
	}
	op.Parameters = strings.Join(parameters, ", ")
	op.StableResult, op.StableParameters = stable(op.Result), stable(op.Parameters)
	for _, r := range schema.Results {
		op.Likes = append(op.Likes,
			slices.IndexFunc(schema.Arguments, func(a kernel.Argument) bool { return a.Name == r.Like }))
	}
	op.Places = fmt.Sprintf("likes=%s, tensors=%s, written=%s", places(op.Likes), places(tensors), places(written))
}

// places is a list in Python.
func places(all []int) string { return strings.ReplaceAll(fmt.Sprint(all), " ", ", ") }

// stable spells types as the stable ABI does.
func stable(types string) string { return strings.ReplaceAll(types, "at::Tensor", "Tensor") }

// scalars are the types of the other arguments, in C and in C++.
var scalars = map[kernel.Kind]string{kernel.Int: "int64_t ", kernel.Float: "double ", kernel.Bool: "bool "}

func cxxType(a kernel.Argument) string {
	switch {
	case a.Kind != kernel.Tensor:
		return scalars[a.Kind]
	case a.Writes():
		return "at::Tensor& "
	case a.Optional:
		return "const std::optional<at::Tensor>& "
	}
	return "const at::Tensor& "
}

// parameter names a parameter in C so that no macro has its name, as NULL has one.
func parameter(name string) string {
	if kernel.LooksLikeMacro(name) {
		return name + "_"
	}
	return name
}

// prototype gives the parameters of the C function.
func prototype(s kernel.Schema) string {
	var out []string
	for _, a := range s.Arguments {
		switch {
		case a.Kind != kernel.Tensor:
			out = append(out, scalars[a.Kind]+parameter(a.Name))
		case a.Writes():
			out = append(out, "DLTensor *"+parameter(a.Name))
		default:
			out = append(out, "const DLTensor *"+parameter(a.Name))
		}
	}
	for i, r := range s.Results {
		name := r.Name
		if name == "" {
			name = fmt.Sprintf("result%d", i)
		}
		for s.Argument(name) != nil {
			name += "_" // which no argument ends with
		}
		out = append(out, "DLTensor *"+parameter(name))
	}
	return strings.Join(append(out, "void *stream"), ", ")
}
