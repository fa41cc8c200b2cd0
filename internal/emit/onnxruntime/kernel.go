package onnxruntime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// kernelView is the data of a kernel for the template.
type kernelView struct {
	Name, Function, Domain                  string
	Sites                                   []string // of the arguments, then of the results that are tensors
	Attributes                              []string
	Inputs                                  string
	Outputs                                 []string
	AttributeCount, InputCount, OutputCount int
	Locals, Read, Allocate, Release         []string
	Passing                                 string
}

// types are the dtypes that ONNX Runtime has, as constants of the host's description. ONNX also has
// complex64 and complex128, of which ONNX Runtime makes no tensors.
var types = []string{"float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16", "float64",
	"uint32", "uint64", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
	"float8_e5m2fnuz"}

func supports(dtype string) bool { return slices.Contains(types, dtype) }

// dtype is a row of dtypes.h.
type dtype struct {
	Constant string // of ONNX, without its prefix
	Code     string
	Bits     int
}

// dtypesOf returns the dtypes of a release that ONNX has, with those that kernels cannot have.
func dtypesOf(r *spec.Release) (all []dtype) {
	for _, d := range r.DTypes {
		if supports(d.Name) || slices.Contains(named, d.Name) {
			all = append(all, dtype{strings.ToUpper(d.Name), d.Code, d.Bits})
		}
	}
	return all
}

// named are the dtypes of ONNX that only errors name.
var named = []string{"complex64", "complex128"}

// kinds are the types of attributes, by the kind of an argument.
var kinds = map[contract.Kind]string{contract.Int: "INT", contract.Float: "FLOAT", contract.Bool: "BOOL",
	contract.Str: "STR", contract.Ints: "INTS", contract.Floats: "FLOATS"}

// inexpressible reports the parts of a kernel that ONNX cannot express.
func inexpressible(k *contract.Kernel) (errs []error) {
	fail := func(param, format string, args ...any) {
		errs = append(errs, emit.CannotMake(k.Name, param, format, args...))
	}
	if !slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name == "kDLCPU" }) {
		fail("", "has no function for kDLCPU: its operator would run on CPUExecutionProvider")
	}
	inputs := 0
	for _, p := range k.Args {
		if p.Kind == contract.Tensor {
			inputs++
		}
		for _, why := range unfit(p) {
			fail(p.Name, "%s", why)
		}
	}
	if inputs == 0 {
		fail("", "takes no tensor: ONNX Runtime computes operators without inputs while it loads the model")
	}
	if len(k.Returned()) == 0 {
		fail("", "returns nothing: an operator of ONNX has outputs")
	}
	for _, p := range k.Returned() {
		if p.Kind == contract.Number {
			fail(p.Name, "returns the scalar %s of a dtype: write %s for a tensor of rank 0", p.Name, p.AsTensor())
		}
		if p.Kind == contract.Tensor && len(p.Types) > 0 && !served(p) {
			fail(p.Name, "returns %s, whose dtype ONNX Runtime does not have", p.Name)
		}
	}
	return errs
}

// unfit returns why an argument can be neither an input nor an attribute.
func unfit(p contract.Param) (why []string) {
	switch {
	case p.Kind == contract.Number:
		return []string{fmt.Sprintf("takes the scalar %s of a dtype, and attributes of ONNX are int64, float32 or "+
			"text: write int or float", p.Name)}
	case p.Kind != contract.Tensor:
		return nil
	}
	if p.Writes() {
		why = append(why, fmt.Sprintf("writes to %s, and operators of ONNX only read their inputs: return it", p.Name))
	}
	if p.Layout == contract.ColumnMajor {
		why = append(why, fmt.Sprintf("takes %s column_major, and tensors of ONNX are C-contiguous", p.Name))
	}
	if len(p.Types) > 0 && !served(p) {
		why = append(why, fmt.Sprintf("takes %s, whose dtype ONNX Runtime does not have", p.Name))
	}
	return why
}

// served reports whether ONNX has at least one of the dtypes of a tensor.
func served(p contract.Param) bool {
	return slices.ContainsFunc(p.Types, func(d spec.DType) bool { return supports(d.Name) })
}

// writer writes the operator of one kernel.
type writer struct {
	k               *contract.Kernel
	v               *kernelView
	inputs, outputs []string
}

func viewKernel(k *contract.Kernel) kernelView {
	v := kernelView{Name: k.Name, Function: emit.CLiteral(k.Name), Domain: emit.CLiteral(k.Namespace)}
	w := &writer{k: k, v: &v}
	for i, p := range k.Args {
		w.site(p.Name, i)
		if p.Kind == contract.Tensor {
			w.input(i, p)
		} else {
			w.attribute(p)
		}
	}
	for i, p := range k.Results {
		if p.Kind == contract.Tensor {
			w.site(p.Name, len(k.Args)+i)
		}
	}
	w.results()
	v.InputCount, v.OutputCount, v.AttributeCount = len(w.inputs), len(w.outputs), len(v.Attributes)
	v.Inputs, v.Outputs = strings.Join(w.inputs, ", "), w.outputs
	if len(v.Attributes) == 0 {
		v.Attributes = []string{`{{"", "", 0}, 0, 0, 0, 0, 0, NULL}`}
	}
	return v
}

func (w *writer) site(name string, place int) {
	w.v.Sites = append(w.v.Sites, fmt.Sprintf("{%s, %s, %d}", w.v.Function, emit.CLiteral(name), place))
}

func (w *writer) local(format string, args ...any) {
	w.v.Locals = append(w.v.Locals, fmt.Sprintf(format, args...))
}

func (w *writer) reads(format string, args ...any) {
	w.v.Read = append(w.v.Read, fmt.Sprintf(format, args...))
}

func (w *writer) input(i int, p contract.Param) {
	w.local("struct dlpackgen_ort_tensor input_%d_;", i)
	w.reads("kernel_.args.%s = NULL;", p.Name)
	w.reads("kernel_.flags.%s = 0;", p.Name)
	w.reads("if (!error_)")
	w.reads("  error_ = dlpackgen_ort_input(api_, context_, %d, %d, &sites_[%d], &input_%d_, &kernel_.args.%s, &status_, &message_);",
		len(w.inputs), btoi(p.Optional), i, i, p.Name)
	w.inputs = append(w.inputs, strconv.Itoa(btoi(p.Optional)))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// attribute writes a scalar: its entry in the table, and its assignment to the call.
func (w *writer) attribute(p contract.Param) {
	at := fmt.Sprintf("node_->values[%d]", len(w.v.Attributes))
	integer, real := emit.CNumber(p.Default)
	text := "NULL"
	if p.Default != nil && p.Default.Kind == notation.Text {
		text = emit.CDefault(p.Default)
	}
	there := p.Default != nil && p.Default.Kind != notation.None
	w.v.Attributes = append(w.v.Attributes, fmt.Sprintf("{%s, DLPACKGEN_ORT_%s, %d, %d, %s, %s, %s}",
		w.v.Sites[len(w.v.Sites)-1], kinds[p.Kind], btoi(p.Default == nil && !p.Optional), btoi(there), integer, real,
		text))
	into := "kernel_.args." + p.Name
	switch p.Kind {
	case contract.Ints, contract.Floats:
		items := map[contract.Kind]string{contract.Ints: "integers", contract.Floats: "reals"}[p.Kind]
		w.reads("%s.items = %s.there ? %s.%s : NULL;", into, at, at, items)
		w.reads("%s.count = %s.there ? %s.count : 0;", into, at, at)
	case contract.Str:
		w.reads("%s = %s.there ? %s.text : NULL;", into, at, at)
	default:
		member := map[contract.Kind]string{contract.Int: "integer", contract.Float: "real",
			contract.Bool: "truth"}[p.Kind]
		if p.Optional {
			w.reads("%s = %s.there ? &%s.%s : NULL;", into, at, at, member)
		} else {
			w.reads("%s = %s.%s;", into, at, member)
		}
	}
}

// results writes the allocations: outputs, and memory for results that callers do not receive.
func (w *writer) results() {
	var made []string
	site := len(w.k.Args)
	allocate := func(format string, args ...any) {
		w.v.Allocate = append(w.v.Allocate, fmt.Sprintf(format, args...))
	}
	for i, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			w.local("void* result_%d_ = NULL;", i)
			allocate("error_ = dlpackgen_ort_scalar(api_, context_, %d, &result_%d_);", len(w.outputs), i)
			w.v.Passing += fmt.Sprintf(", result_%d_", i)
			w.outputs = append(w.outputs, w.form(p))
			continue
		}
		w.local("struct dlpackgen_ort_tensor result_%d_;", i)
		w.v.Passing += fmt.Sprintf(", &result_%d_.tensor", i)
		made = append(made, fmt.Sprintf("&result_%d_.tensor", i))
		if p.Saved {
			w.local("result_%d_.block = NULL;", i)
			allocate("status_ = dlpackgen_ort_saved(&sites_[%d], &kernel_.results.%s, &result_%d_, &message_);", site,
				p.Name, i)
			w.v.Release = append(w.v.Release, fmt.Sprintf("free(result_%d_.block);", i))
		} else {
			allocate("error_ = dlpackgen_ort_output(api_, context_, %d, &kernel_.results.%s, &result_%d_);",
				len(w.outputs), p.Name, i)
			w.outputs = append(w.outputs, w.form(p))
		}
		site++
	}
	if len(made) > 0 {
		w.local("const DLTensor* const results_[] = {%s};", strings.Join(made, ", "))
		allocate("status_ = dlpackgen_check_results_kernel_%s(&kernel_, results_, NULL, sites_ + %d, &message_);",
			w.k.Name, len(w.k.Args))
	}
}

// form returns the type of an output, or the input that determines it.
func (w *writer) form(p contract.Param) string {
	name, of := "undefined", -1
	switch {
	case p.Kind == contract.Int:
		name = "int64"
	case p.Kind == contract.Float:
		name = "float64"
	case p.Kind == contract.Bool:
		name = "bool"
	case p.Var == contract.None:
		name = p.Types[0].Name
	default:
		of = w.inputOf(w.k.Vars[p.Var].Arg)
	}
	rank, ellipsis := p.Rank()
	input, extents := -1, 0
	if ellipsis != contract.None {
		binder := w.k.Ellipses[p.Extents[ellipsis].Dim].Arg
		input = w.inputOf(binder)
		extents, _ = w.k.Args[binder].Rank()
	}
	return fmt.Sprintf("{DLPACKGEN_ONNXRUNTIME_%s, %d, %d, %d, %d}", strings.ToUpper(name), of, rank, input, extents)
}

// inputOf returns the index of an argument among the inputs.
func (w *writer) inputOf(arg int) (place int) {
	for _, p := range w.k.Args[:arg] {
		if p.Kind == contract.Tensor {
			place++
		}
	}
	return place
}
