// Package traced contains the common part of targets jax and paddle, whose hosts trace: functions
// are called with shapes and dtypes before there is data. It exports the checks of kernels.c to
// Python, and formats the Python descriptions of kernels.
package traced

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// facts are the data of facts.py.
type facts struct {
	DTypes  []DType
	MaxNDim int
}

// Python are the sources that the Python files of both targets contain, for the dtypes of a host.
func Python(r *spec.Release, dtypes []DType) []emit.Asset {
	return append(emit.Copies("traced", "", "foreign.py", "ordinals.py", "scalars.py", "checks.py"),
		emit.Asset{From: "traced/facts.py.tmpl", To: "facts.py", View: facts{dtypes, r.Limits.NDim}},
		emit.PythonStatuses(r))
}

// checked is a kernel in checks.h.
type checked struct {
	Name    string
	Fill    []string
	Results []string // lines
}

// C returns the parts that export the checks of kernels, as dlpackgen_PREFIX_check_NAME.
func C(prefix string, kernels []*contract.Kernel) []emit.Asset {
	var all []checked
	for _, k := range kernels {
		v := checked{Name: k.Name}
		for i, p := range k.Args {
			v.Fill = append(v.Fill, fill(i, p)...)
		}
		for i, p := range k.Results {
			if p.Kind == contract.Tensor {
				v.Results = append(v.Results, fmt.Sprintf("results_[%d] = kernel_.results.%s;", i, p.Name))
			}
		}
		all = append(all, v)
	}
	view := struct {
		Prefix  string
		Kernels []checked
	}{prefix, all}
	return []emit.Asset{{From: "traced/values.h", To: "values.h"},
		{From: "traced/checks.h.tmpl", To: "checks.h", View: view}}
}

// Results returns the names of all results.
func Results(k *contract.Kernel) (names []string) {
	for _, p := range k.Results {
		names = append(names, p.Name)
	}
	return names
}

// DType is a DLPack dtype, as Python passes it to the checks.
type DType struct {
	Name, Code string
	Value      int64 // of the code
	Bits       int
}

// DTypes returns the dtypes of a release that a host supports.
func DTypes(r *spec.Release, has func(name string) bool) (all []DType) {
	for _, d := range r.DTypes {
		if code, known := r.ValueOf("DLDataTypeCode", d.Code); known && d.Lanes == 1 && has(d.Name) {
			all = append(all, DType{d.Name, d.Code, code, d.Bits})
		}
	}
	return all
}

// Described returns the arguments of _kernel() in Python that both targets use.
func Described(prefix string, k *contract.Kernel) []string {
	all := []string{"check=" + Quoted("dlpackgen_"+prefix+"_check_"+k.Name) + ",",
		fmt.Sprintf("device=%d,", k.Devices[0].Value), "parameters=("}
	for _, p := range k.Args {
		all = append(all, "    _Parameter("+parameter(k, p)+"),")
	}
	return append(all, "),", "results="+Tuple(Results(k))+",", "returned="+returnedIndices(k)+",")
}

// Backward formats the gradient of a kernel, or returns "".
func Backward(k *contract.Kernel) []string {
	if k.Backward == nil {
		return nil
	}
	var of []string
	for _, i := range k.Backward.Of {
		of = append(of, k.Args[i].Name)
	}
	return []string{fmt.Sprintf("backward=_Backward(%s, saves=%s, of=%s),", Quoted(k.Backward.Kernel),
		Tuple(k.Backward.Saves), Tuple(of))}
}

// parameter returns a call of _Parameter, without arguments that have their defaults.
func parameter(k *contract.Kernel, p contract.Param) string {
	all := []string{Quoted(p.Name), Quoted(Form(p))}
	flag := func(name string, is bool) {
		if is {
			all = append(all, name+"=True")
		}
	}
	if p.Kind != contract.Tensor {
		all = append(all, "expected="+Quoted(p.Expected()))
	}
	if p.Kind == contract.Number && p.Var == contract.None {
		all = append(all, "dtype="+Quoted(p.Types[0].Name))
	}
	if p.Kind == contract.Number && p.Var != contract.None {
		all = append(all, "binder="+strconv.Itoa(k.Vars[p.Var].Arg), "dtypes="+Tuple(k.Vars[p.Var].TypeNames()))
	}
	flag("optional", p.Optional)
	flag("written", p.Kind == contract.Tensor && p.Writes())
	flag("leads", k.Leads(p))
	flag("cpu", p.CPU)
	flag("column_major", p.Layout == contract.ColumnMajor)
	if p.Default != nil {
		all = append(all, "default="+p.Default.String())
	}
	return strings.Join(all, ", ")
}

// returnedIndices returns the indices of the results that callers receive.
func returnedIndices(k *contract.Kernel) string {
	var all []string
	for i, p := range k.Results {
		if !p.Saved {
			all = append(all, strconv.Itoa(i))
		}
	}
	return List(all)
}
