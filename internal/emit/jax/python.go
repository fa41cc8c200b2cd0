package jax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// viewPython spells the function of JAX, and what kernels_jax.py knows of the kernel.
func (v *kernelView) viewPython(k *contract.Kernel) {
	v.Target = k.Name
	if k.Namespace != "" {
		v.Target = k.Namespace + "." + k.Name
	}
	var signature []string
	for _, p := range k.Args {
		text := p.Name
		if p.Default != nil {
			text += "=" + p.Default.String()
		}
		signature = append(signature, text)
	}
	v.Signature, v.Doc = strings.Join(signature, ", "), document(k)
	v.Described = append(v.Described, "target="+quoted(v.Target)+",", "handlers={"+v.handlers()+"},",
		"check="+quoted("dlpackgen_jax_check_"+k.Name)+",", fmt.Sprintf("device=%d,", k.Devices[0].Value), "parameters=(")
	for i, p := range k.Args {
		v.Described = append(v.Described, "    _Parameter("+parameter(k, i, p)+"),")
	}
	v.Described = append(v.Described, "),", "results="+tuple(v.Results)+",", "given="+given(k)+",",
		"batch="+quoted(batching(k))+",")
	if b := k.Backward; b != nil {
		var of []string
		for _, i := range b.Of {
			of = append(of, k.Args[i].Name)
		}
		v.Described = append(v.Described, fmt.Sprintf("backward=_Backward(%s, saves=%s, of=%s),", quoted(b.Kernel),
			tuple(b.Saves), tuple(of)))
	}
}

func (v *kernelView) handlers() string {
	var all []string
	for _, h := range v.Handlers {
		all = append(all, quoted(h.Platform)+": "+quoted(h.Symbol))
	}
	return strings.Join(all, ", ")
}

// parameter is a call of _Parameter, less what has its default there.
func parameter(k *contract.Kernel, i int, p contract.Param) string {
	all := []string{quoted(p.Name), quoted(form(p))}
	flag := func(name string, is bool) {
		if is {
			all = append(all, name+"=True")
		}
	}
	if p.Kind != contract.Tensor {
		all = append(all, "expected="+quoted(p.Expected()))
	}
	if p.Kind == contract.Number && p.Var == contract.None {
		all = append(all, "dtype="+quoted(p.Types[0].Name))
	}
	if p.Kind == contract.Number && p.Var != contract.None {
		all = append(all, "binder="+strconv.Itoa(k.Vars[p.Var].Arg), "dtypes="+dtypeNames(k.Vars[p.Var]))
	}
	flag("optional", p.Optional)
	flag("written", p.Kind == contract.Tensor && p.Writes())
	flag("leads", k.Leads(p))
	flag("column_major", p.Layout == contract.ColumnMajor)
	if p.Default != nil {
		all = append(all, "default="+p.Default.String())
	}
	return strings.Join(all, ", ")
}

func dtypeNames(v contract.Var) string {
	var all []string
	for _, d := range v.Types {
		all = append(all, d.Name)
	}
	return tuple(all)
}

// given numbers the results that callers get.
func given(k *contract.Kernel) string {
	var all []string
	for i, p := range k.Results {
		if !p.Saved {
			all = append(all, strconv.Itoa(i))
		}
	}
	return list(all)
}

// batching tells how jax.vmap calls a kernel.
func batching(k *contract.Kernel) string {
	stays := func(p contract.Param) bool { return !k.Leads(p) }
	switch {
	case k.NoBatch:
		return "none"
	case k.Joins() && !slices.ContainsFunc(k.Written(), stays):
		return "joined"
	}
	return "each"
}

// document describes the kernel in the docstring.
func document(k *contract.Kernel) string {
	lines := []string{}
	if k.Doc != "" {
		lines = append(lines, k.Doc, "")
	}
	for _, p := range k.Args {
		lines = append(lines, p.Name+": "+p.Line)
	}
	for _, p := range k.Given() {
		lines = append(lines, "returns "+p.Name+": "+p.Line)
	}
	for _, p := range k.Written() {
		lines = append(lines, "returns "+p.Name+": as it is written")
	}
	for _, c := range k.Where {
		lines = append(lines, fmt.Sprintf("where %s", c))
	}
	text := strings.NewReplacer(`\`, `\\`, `"`, "'").Replace(strings.Join(lines, "\n"))
	return strings.ReplaceAll(text, "\n", "\n    ")
}

// quoted spells a name.
func quoted(text string) string { return `"` + text + `"` }

func tuple(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, quoted(name))
	}
	return list(all)
}

func list(all []string) string {
	if len(all) == 1 {
		return "(" + all[0] + ",)"
	}
	return "(" + strings.Join(all, ", ") + ")"
}
