package python

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// testsOption is the option for generated tests of the kernels.
var testsOption = emit.Option{
	Name: "tests", Default: "false", Bool: true,
	Doc: "true: tests/test_NAME_contract.py for each kernel that the config describes",
}

// testAssets lists the tests of the kernels: a description for each kernel, and the common code.
func testAssets(m *emit.Model, module string) []emit.Asset {
	if m.Options[testsOption.Name] != "true" {
		return nil
	}
	all := emit.Copies("kernels/python", "tests", "dlpackgen_contract.py", "dlpackgen_contract_calls.py",
		"dlpackgen_contract_rejected.py")
	all[1].Parts = emit.Copies("traced", "", "ordinals.py")
	for i := range m.Contracts {
		k := &m.Contracts[i]
		all = append(all, emit.Asset{From: "kernels/python/contract_test.py.tmpl",
			To:   "tests/test_" + k.Name + "_contract.py",
			View: testView{module, k.Name, describe(k, module), gradients(k)}})
	}
	return all
}

// testView is the data of the test of one kernel.
type testView struct {
	Module, Name, Description string
	Gradients                 []string // the kernel with its backward, or none
}

// gradients returns the kernel that computes the gradients of a kernel, if there is one.
func gradients(k *contract.Kernel) []string {
	if k.Backward == nil {
		return nil
	}
	return []string{k.Backward.Kernel}
}

// describe formats a kernel as a value of dlpackgen_contract.Kernel.
func describe(k *contract.Kernel, module string) string {
	d := describer{k}
	all := []pythonValue{
		{head: "module=" + quoted(module)}, {head: "name=" + quoted(k.Name)},
		d.params("args", k.Args), d.params("results", k.Returned()),
	}
	var devices, errors, symbols, types, apart, where []pythonValue
	for _, v := range k.Vars {
		types = append(types, group(quoted(v.Name)+": (", dtypes(v.Types), ")"))
		symbols = append(symbols, plain(quoted(v.Name)+": "+quoted(k.Args[v.Arg].Name)))
	}
	for _, s := range slices.Concat(k.Dims, dotted(k.Ellipses)) {
		symbols = append(symbols, plain(quoted(s.Name)+": "+quoted(k.Args[s.Arg].Name)))
	}
	for _, pair := range k.Apart() {
		apart = append(apart, plain(fmt.Sprintf("(%q, %q)", k.Args[pair[0]].Name, k.Args[pair[1]].Name)))
	}
	for _, c := range k.Where {
		where = append(where, d.condition(c))
	}
	for _, e := range k.Errors {
		errors = append(errors, plain(e.Class))
	}
	for _, one := range k.Devices {
		devices = append(devices, plain(quoted(one.Name)))
	}
	all = append(all, group("types={", types, "}"), group("symbols={", symbols, "}"), group("apart=(", apart, ")"),
		group("where=(", where, ")"), group("devices=(", devices, ")"), group("errors=(", errors, ")"))
	all = append(append(all, d.backward()...), d.test()...)
	return "KERNEL = " + group("contract.Kernel(", present(all), ")").text(0, len("KERNEL = "))
}

// describer formats the parts of one kernel.
type describer struct{ k *contract.Kernel }

func (d describer) params(name string, params []contract.Param) pythonValue {
	var all []pythonValue
	for _, p := range params {
		if p.Kind == contract.Tensor {
			all = append(all, d.tensor(p))
		} else {
			all = append(all, d.scalar(p))
		}
	}
	return group(name+"=(", all, ")")
}

// layoutNames are the names of the layouts.
var layoutNames = map[contract.Layout]string{
	contract.Strided: "strided", contract.Inner: "inner", contract.AnyOrder: "any_order",
	contract.ColumnMajor: "column_major",
}

func (d describer) tensor(p contract.Param) pythonValue {
	all := []pythonValue{plain(quoted(p.Name)), plain(quoted(p.Line)), d.elements(p), d.shape(p)}
	layout := layoutNames[p.Layout]
	if p.Copied {
		layout = "copied"
	}
	for _, one := range []struct {
		is   bool
		text string
	}{
		{layout != "", "layout=" + quoted(layout)}, {p.Access == contract.InOut, `access="inout"`},
		{p.Access == contract.Out, `access="out"`}, {p.Align > 0, fmt.Sprint("aligned=", p.Align)},
		{p.Optional, "optional=True"}, {p.Default != nil, "required=False"},
	} {
		if one.is {
			all = append(all, plain(one.text))
		}
	}
	return group("contract.Tensor(", present(append(all, d.solved(p))), ")")
}

// elements returns the variable of a parameter, or its dtypes.
func (d describer) elements(p contract.Param) pythonValue {
	if p.Var != contract.None {
		return plain("variable=" + quoted(d.k.Vars[p.Var].Name))
	}
	return group("dtypes=(", dtypes(p.Types), ")")
}

func (d describer) shape(p contract.Param) pythonValue {
	var all []pythonValue
	for _, e := range p.Extents {
		switch e.Form {
		case contract.Any:
			all = append(all, plain(`"_"`))
		case contract.Fixed:
			all = append(all, plain(strconv.FormatInt(e.Number, 10)))
		case contract.Ellipsis:
			all = append(all, plain(quoted("..."+d.k.Ellipses[e.Dim].Name)))
		default:
			all = append(all, plain(quoted(e.Size.String())))
		}
	}
	return pythonValue{head: "shape=(", items: all, end: ")", sequence: true, keep: true}
}

// solved lists the extents that determine a symbol through an expression.
func (d describer) solved(p contract.Param) pythonValue {
	var all []pythonValue
	for i, e := range p.Extents {
		if e.Form == contract.Solved {
			all = append(all, plain(strconv.Itoa(i)))
		}
	}
	return group("solved=(", all, ")")
}

func (d describer) scalar(p contract.Param) pythonValue {
	kinds := map[contract.Kind]string{contract.Int: "int", contract.Float: "float", contract.Bool: "bool",
		contract.Str: "str", contract.Number: "number", contract.Ints: "ints", contract.Floats: "floats"}
	all := []pythonValue{plain(quoted(p.Name)), plain(quoted(p.Line)), plain("kind=" + quoted(kinds[p.Kind]))}
	if p.Kind == contract.Number {
		all = append(all, d.elements(p))
	}
	if p.Count > 0 {
		all = append(all, plain(fmt.Sprint("count=", p.Count)))
	}
	if p.Least > p.Count {
		all = append(all, plain(fmt.Sprint("least=", p.Least)))
	}
	if p.Optional {
		all = append(all, plain("optional=True"))
	}
	if p.Default != nil {
		all = append(all, plain("required=False"))
	}
	return group("contract.Scalar(", all, ")")
}

// condition formats a condition, with the names whose values its message contains.
func (d describer) condition(c *notation.Cond) pythonValue {
	names, raises := []string{}, "ValueError"
	python := d.python(c, &names, &raises)
	var shown []pythonValue
	for _, name := range names {
		shown = append(shown, plain(quoted(name)))
	}
	all := []pythonValue{plain(quoted(c.String())), plain(quoted(python)), group("names=(", shown, ")")}
	if raises != "ValueError" {
		all = append(all, plain("raises="+raises))
	}
	return group("contract.Condition(", all, ")")
}

// python formats a condition as a Python expression.
func (d describer) python(c *notation.Cond, names *[]string, raises *string) string {
	if len(c.Conds) > 0 {
		var parts []string
		for _, part := range c.Conds {
			parts = append(parts, "("+d.python(part, names, raises)+")")
		}
		return strings.Join(parts, " "+c.Op+" ")
	}
	text, there := c.String(), []string{}
	d.names(c.Left, names, &there)
	if c.Op == "in" {
		var all []string
		for _, v := range c.In {
			all = append(all, literalOf(v))
		}
		text = c.Left.String() + " in [" + strings.Join(all, ", ") + "]"
		if d.k.Var(c.Left.Name) != contract.None {
			*raises = "TypeError"
		}
	} else {
		d.names(c.Right, names, &there)
	}
	for _, name := range there {
		text = name + " is None or " + text
	}
	return text
}

// literalOf formats a value in Python. A word without quotes is the name of a dtype.
func literalOf(v notation.Value) string {
	if v.Kind == notation.Bare {
		return quoted(v.Text)
	}
	return v.String()
}

// names adds the terms of an expression that have values, and those that may be absent.
func (d describer) names(e *notation.Expr, names, there *[]string) {
	switch e.Op {
	case notation.Symbol, notation.Size, notation.Shape, notation.Item:
		if text := e.String(); !slices.Contains(*names, text) {
			*names = append(*names, text)
		}
		i, dim := d.k.Arg(e.Name), d.k.Dim(e.Name)
		if (i != contract.None && d.k.Args[i].Optional || dim != contract.None && !d.k.Dims[dim].Always) &&
			!slices.Contains(*there, e.Name) {
			*there = append(*there, e.Name)
		}
	default:
		for _, o := range e.Operands {
			d.names(o, names, there)
		}
	}
}

// backward formats PyTorch's operator, and the arguments with a gradient.
func (d describer) backward() []pythonValue {
	if d.k.Backward == nil {
		return nil
	}
	var of []pythonValue
	for _, i := range d.k.Backward.Of {
		of = append(of, plain(quoted(d.k.Args[i].Name)))
	}
	return []pythonValue{plain("namespace=" + quoted(d.k.Namespace)), group("gradients=(", of, ")")}
}

// test formats the key `test` of a description.
func (d describer) test() (all []pythonValue) {
	t := d.k.Test
	if t == nil {
		return nil
	}
	if t.Reference != "" {
		all = append(all, plain("reference="+quoted(t.Reference)))
	}
	var sizes, tolerance []pythonValue
	for _, s := range t.Sizes {
		var values []pythonValue
		for _, v := range s.Values {
			values = append(values, plain(strconv.FormatInt(v, 10)))
		}
		sizes = append(sizes, group(quoted(d.k.Dims[s.Dim].Name)+": (", values, ")"))
	}
	for _, one := range t.Tolerance {
		value := notation.Value{Kind: notation.Float, Float: one.Value}
		tolerance = append(tolerance, plain(quoted(one.Type.Name)+": "+value.String()))
	}
	return append(all, group("sizes={", sizes, "}"), group("tolerance={", tolerance, "}"))
}
