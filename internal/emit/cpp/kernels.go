package cpp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// callers lists the header of the described kernels, if there are any.
func callers(m *emit.Model) ([]emit.Asset, error) {
	if len(m.Contracts) == 0 {
		return nil, nil
	}
	view, err := viewCallers(m.Release, m.Contracts)
	if err != nil {
		return nil, err
	}
	made := emit.Asset{From: "cpp/kernels.hpp.tmpl", To: "kernels.hpp", View: view,
		Parts: append(emit.Copies("cpp", "", "kernel_argument.hpp", "kernel_call.hpp", "kernel_error.hpp"),
			emit.Asset{From: "c/copy.h", To: "copy.h"})}
	if m.Options[optionSingle] == "true" {
		made.Known = map[string]string{}
		for _, name := range []string{"array_view", "builder", "exceptions"} {
			made.Known[folder+"/"+name+".hpp"] = "dlpackgen.hpp"
		}
	}
	return []emit.Asset{made}, nil
}

// kernelsView is the data of templates/cpp/kernels.hpp.tmpl.
type kernelsView struct {
	names
	Kernels []caller
}

// caller is the data of a kernel for the template.
type caller struct {
	Name    string
	Structs []structOf
	Sites   []string // lines
	Fill    []string
	Forms   []form
}

// structOf is the struct that a function with several results returns.
type structOf struct {
	Name, Of string
	Members  []string
}

// form is a function of C++.
type form struct {
	Name    string
	Doc     []string
	Head    string
	Results []string // lines
	Return  string
}

// helpers are the names that the functions use.
var helpers = []string{"KernelError", "KernelException", "KernelResult", "List", "Managed", "Number", "OptionalList",
	"OptionalTensorIn", "OptionalTensorOut", "OptionalText", "TensorIn", "TensorOut", "Text"}

func viewCallers(r *spec.Release, described []contract.Kernel) (kernelsView, error) {
	v := kernelsView{names: namesOf(r)}
	var errs []error
	taken := map[string]string{}
	for _, name := range helpers {
		taken[name] = "the header"
	}
	for i := range described {
		c := viewCaller(&described[i])
		for _, name := range c.declared() {
			if other, again := taken[name]; again {
				errs = append(errs, emit.NameTaken(c.Name, "", "would be %s in C++, a name of %s", name, other))
			}
			taken[name] = "kernel " + c.Name
		}
		v.Kernels = append(v.Kernels, c)
	}
	return v, errors.Join(errs...)
}

// declared lists the names that a kernel has in the namespace.
func (c caller) declared() (all []string) {
	for _, f := range c.Forms {
		all = append(all, f.Name)
	}
	for _, s := range c.Structs {
		all = append(all, s.Name)
	}
	return all
}

func viewCaller(k *contract.Kernel) caller {
	c := caller{Name: k.Name}
	for i, p := range slices.Concat(k.Args, k.Results) {
		c.Sites = append(c.Sites, fmt.Sprintf("{%s, %s, %d}, ", emit.CLiteral(k.Name), emit.CLiteral(p.Name), i))
	}
	if len(c.Sites) > 0 {
		c.Sites = []string{"[[maybe_unused]] static constexpr dlpackgen_site sites_[] = {" +
			strings.Join(c.Sites, "") + "};"}
	}
	for i, p := range k.Args {
		c.Fill = append(c.Fill, fill(k, i, p)...)
	}
	c.add(k, false)
	if slices.ContainsFunc(k.Returned(), isTensor) {
		c.add(k, true)
	}
	return c
}

func isTensor(p contract.Param) bool { return p.Kind == contract.Tensor }

// parameterName returns a parameter name that hides no type.
func parameterName(name string) string {
	if slices.Contains(helpers, name) {
		return name + "_"
	}
	return name
}

// fill writes the assignment of an argument to the struct of a call.
func fill(k *contract.Kernel, i int, p contract.Param) []string {
	into, name := "call_.args."+p.Name, parameterName(p.Name)
	put := func(value string) string { return into + " = " + value + ";" }
	switch {
	case p.Kind == contract.Tensor:
		return fillTensor(i, p, into, name)
	case p.Kind == contract.Str:
		return []string{fmt.Sprintf("check_.text(sites_[%d], %s);", i, name), put(name + ".get()")}
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		return []string{into + ".items = " + name + ".items();", into + ".count = " + name + ".count();"}
	case p.Kind == contract.Number && p.Var != contract.None:
		v := k.Vars[p.Var]
		return []string{fmt.Sprintf("check_.number(sites_[%d], %s, %s.get(), {%s});", i, name,
			parameterName(k.Args[v.Arg].Name), dtypeList(v.Types)), put(name + ".raw()")}
	case p.Optional:
		return append(fits(i, p, name), put("detail::address_of("+name+")"))
	}
	return append(fits(i, p, name), put(name))
}

// fillTensor does so for a tensor, which it also copies if the description says so.
func fillTensor(i int, p contract.Param, into, name string) []string {
	flags := fmt.Sprintf("call_.flags.%s = %s.flags();", p.Name, name)
	if !p.Copied {
		return []string{into + " = " + name + ".get();", flags}
	}
	return []string{fmt.Sprintf("const detail::Contiguous %s_copy_(check_, sites_[%d], %s);", p.Name, i, name),
		fmt.Sprintf("%s = %s_copy_.get();", into, p.Name), flags}
}

// fits writes the range check of a float whose dtype is narrower than its C type.
func fits(i int, p contract.Param, name string) []string {
	if p.Kind != contract.Number || !contract.IsNarrowed(p.Types[0].Name) {
		return nil
	}
	return []string{fmt.Sprintf("check_.real(sites_[%d], dtypes::%s, %s);", i, identifier(p.Types[0].Name), name)}
}

func dtypeList(types []spec.DType) string {
	var all []string
	for _, d := range types {
		all = append(all, "dtypes::"+identifier(d.Name))
	}
	return strings.Join(all, ", ")
}

// add writes one of the two functions: the one that allocates the results, or the other one.
func (c *caller) add(k *contract.Kernel, makes bool) {
	f := form{Name: k.Name}
	if makes {
		f.Name += "_new"
	}
	w := resultWriter{k: k, makes: makes}
	w.write()
	f.Results, f.Return = w.lines, "KernelError()"
	returned := "KernelError"
	switch len(w.types) {
	case 0:
	case 1:
		f.Return, returned = w.values[0], "KernelResult<"+w.types[0]+">"
	default:
		s := structOf{Name: f.Name + "_results", Of: f.Name, Members: w.members}
		c.Structs = append(c.Structs, s)
		f.Return, returned = s.Name+"{"+strings.Join(w.values, ", ")+"}", "KernelResult<"+s.Name+">"
	}
	f.Doc = document(k, makes)
	f.Head = "inline " + returned + " " + f.Name + "(" + strings.Join(parametersOf(k, makes), ", ") + ")"
	c.Forms = append(c.Forms, f)
}

// document writes the comment of a function.
func document(k *contract.Kernel, makes bool) []string {
	if makes {
		return []string{" " + k.Name + "() with results that it allocates in the host's memory."}
	}
	var lines []string
	for line := range strings.SplitSeq(k.Doc, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, " "+emit.CComment(line))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, " Calls the kernel "+k.Name+".")
	}
	for i, p := range append(slices.Clone(k.Args), k.Returned()...) {
		if i == 0 {
			lines = append(lines, "")
		}
		line := p.Name + ": " + p.Line
		if i >= len(k.Args) {
			line = "returns " + line
		}
		lines = append(lines, "     "+emit.CComment(line))
	}
	return lines
}
