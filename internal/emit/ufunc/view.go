package ufunc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// kernelView is the data of a gufunc for the templates.
type kernelView struct {
	Name, Function, Signature       string
	Doc                             []string // literals
	Sites                           []string // of the results that are tensors
	Dims                            []string // tables
	Operands                        []string
	DTypes, Types                   []string // for each loop
	Inputs, Outputs, Count          int
	Joins                           bool
	Locals, Fill, Allocate, Release []string
	Passing                         string
}

// writer writes the call of a kernel.
type writer struct {
	*gufunc
	v *kernelView
}

func (g *gufunc) view() kernelView {
	k := g.k
	v := kernelView{Name: k.Name, Function: emit.CLiteral(k.Name), Signature: emit.CLiteral(g.signature()),
		Doc: document(k), Inputs: len(g.inputs), Outputs: len(g.outputs), Count: len(g.all()),
		Joins: k.Joins() && !slices.ContainsFunc(k.Written(), func(p contract.Param) bool { return !k.Leads(p) })}
	w := writer{g, &v}
	w.operands()
	for _, loop := range g.loops {
		var codes, numbers []string
		for _, d := range loop {
			codes = append(codes, fmt.Sprintf("{%s, %d, 1}", d.Code, d.Bits))
			numbers = append(numbers, "DLPACKGEN_NUMPY_"+strings.ToUpper(d.Name))
		}
		v.DTypes, v.Types = append(v.DTypes, strings.Join(codes, ", ")), append(v.Types, strings.Join(numbers, ", "))
	}
	for i, p := range k.Args {
		w.argument(i, p)
	}
	w.results()
	return v
}

func document(k *contract.Kernel) (lines []string) {
	add := func(text string) { lines = append(lines, emit.CLiterals(text+"\n")...) }
	if k.Doc != "" {
		add(k.Doc)
		add("")
	}
	for _, p := range k.Args {
		add(p.Name + ": " + p.Line)
	}
	for _, p := range k.Returned() {
		add("returns " + p.Name + ": " + p.Line)
	}
	for _, c := range k.Where {
		add(fmt.Sprintf("where %s", c))
	}
	for _, line := range emit.PythonRaises(k, "") {
		add(line)
	}
	return lines
}

var layouts = map[contract.Layout]string{contract.Contiguous: "CONTIGUOUS", contract.Strided: "STRIDED",
	contract.Inner: "INNER", contract.AnyOrder: "ANY_ORDER", contract.ColumnMajor: "COLUMN_MAJOR"}

// operands writes the tables of the operands. NumPy numbers core dimensions, including fixed ones,
// by their first occurrence in the signature.
func (w writer) operands() {
	var sizes []string
	for i, p := range w.all() {
		var places []string
		for _, d := range p.dims {
			at := slices.Index(sizes, d)
			if at < 0 {
				at, sizes = len(sizes), append(sizes, d)
			}
			places = append(places, fmt.Sprint(at))
		}
		table := "NULL"
		if len(places) > 0 {
			table = fmt.Sprintf("dlpackgen_ufunc_dims_%d_of_%s", i, w.k.Name)
			w.v.Dims = append(w.v.Dims, fmt.Sprintf("static const int %s[] = {%s};", table, strings.Join(places, ", ")))
		}
		w.v.Operands = append(w.v.Operands, fmt.Sprintf("{%s, DLPACKGEN_UFUNC_%s, %t, %t, %d, %d, %s}",
			w.site(p.Name, p.place), layouts[p.Layout], w.k.Leads(p.Param), i >= len(w.inputs), p.Align, len(p.dims),
			table))
	}
}

func (w writer) site(name string, place int) string {
	return fmt.Sprintf("{%s, %s, %d}", w.v.Function, emit.CLiteral(name), place)
}

func (w writer) fill(format string, args ...any) {
	w.v.Fill = append(w.v.Fill, fmt.Sprintf(format, args...))
}

func (w writer) local(format string, args ...any) {
	w.v.Locals = append(w.v.Locals, fmt.Sprintf(format, args...))
}

// operandOf returns the index of an argument or a result among the operands, or none.
func (w writer) operandOf(place int) int {
	return slices.IndexFunc(w.all(), func(p operand) bool { return p.place == place })
}

// argument writes the assignment of an operand, or of a default, to the call.
func (w writer) argument(i int, p contract.Param) {
	into, at := "kernel_.args."+p.Name, w.operandOf(i)
	switch {
	case at == contract.None:
		w.ofDefault(i, p, into)
	case p.Kind == contract.Tensor && p.Writes():
		w.local("DLTensor written_%d_ = operands_[%d].tensor;", i, at)
		w.fill("%s = &written_%d_;", into, i)
	case p.Kind == contract.Tensor:
		w.fill("%s = &operands_[%d].tensor;", into, at)
	case p.Kind == contract.Number && p.Var != contract.None:
		w.local("const struct dlpackgen_number number_%d_ = dlpackgen_ufunc_number(&operands_[%d].tensor);", i, at)
		w.fill("%s = %snumber_%d_;", into, address(p), i)
	default:
		w.local("const %s value_%d_ = %s;", ctype(p), i, read(p, at))
		w.fill("%s = %svalue_%d_;", into, address(p), i)
	}
	if p.Kind == contract.Tensor {
		w.fill("kernel_.flags.%s = 0;", p.Name)
	}
}

func address(p contract.Param) string {
	if p.Optional {
		return "&"
	}
	return ""
}

// read returns the value of a scalar. A bool of NumPy may be any byte.
func read(p contract.Param, at int) string {
	if c := ctype(p); c != "bool" {
		return fmt.Sprintf("*(const %s*)operands_[%d].tensor.data", c, at)
	}
	return fmt.Sprintf("*(const uint8_t*)operands_[%d].tensor.data != 0", at)
}

// ctype returns the C type of a scalar.
func ctype(p contract.Param) string { return contract.CTypes[served(p)[0]] }

// ofDefault writes the default of an argument that is not an operand.
func (w writer) ofDefault(i int, p contract.Param, into string) {
	value := emit.CDefault(p.Default)
	isVariable := p.Kind == contract.Number && p.Var != contract.None
	switch {
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		w.fill("%s.items = NULL;", into)
		w.fill("%s.count = 0;", into)
	case p.Default.Kind == notation.None:
		w.fill("%s = NULL;", into)
	case isVariable:
		whole, fraction := emit.CNumber(p.Default)
		w.local("const struct dlpackgen_number number_%d_ = {%s, %s};", i, whole, fraction)
		w.fill("%s = %snumber_%d_;", into, address(p), i)
	case p.Kind != contract.Str && p.Optional:
		w.local("const %s value_%d_ = %s;", scalarOf(p), i, value)
		w.fill("%s = &value_%d_;", into, i)
	default:
		w.fill("%s = %s;", into, value)
	}
}

// scalarOf returns the C type of a scalar with a default, of any dtype.
func scalarOf(p contract.Param) string {
	if p.Kind == contract.Number {
		return contract.CTypes[p.Types[0].Name]
	}
	return ctype(p)
}

// results writes memory for the results that callers do not receive, and passes all results.
func (w writer) results() {
	allocate := func(format string, args ...any) {
		w.v.Allocate = append(w.v.Allocate, fmt.Sprintf(format, args...))
	}
	var made []string
	for i, p := range w.k.Results {
		at := w.operandOf(len(w.k.Args) + i)
		switch {
		case p.Kind != contract.Tensor:
			w.v.Passing += fmt.Sprintf(", operands_[%d].tensor.data", at)
			continue
		case p.Saved:
			w.local("struct dlpackgen_ufunc_tensor saved_%d_;", i)
			w.local("saved_%d_.block = NULL;", i)
			allocate("status_ = dlpackgen_ufunc_save(&sites_[%d], &kernel_.results.%s, &saved_%d_, message_);",
				len(w.v.Sites), p.Name, i)
			w.v.Release = append(w.v.Release, fmt.Sprintf("free(saved_%d_.block);", i))
			made = append(made, fmt.Sprintf("&saved_%d_.tensor", i))
		default:
			w.local("DLTensor result_%d_ = operands_[%d].tensor;", i, at)
			made = append(made, fmt.Sprintf("&result_%d_", i))
		}
		w.v.Passing += ", " + made[len(made)-1]
		w.v.Sites = append(w.v.Sites, w.site(p.Name, len(w.k.Args)+i))
	}
	if len(made) > 0 {
		w.local("const DLTensor* const results_[] = {%s};", strings.Join(made, ", "))
		allocate("status_ = dlpackgen_check_results_kernel_%s(&kernel_, results_, NULL, sites_, message_);", w.k.Name)
	}
}
