// Package paddle implements target "paddle": described kernels as functions of PaddlePaddle, in
// Python, which call the module of target python. For graphs, C code exports the checks of
// kernels.c to Python.
package paddle

import (
	"errors"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/traced"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "paddle",
	Doc:       "described kernels as functions of PaddlePaddle; Python over the module of target python, checks in C",
	Path:      "paddle",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Options:   []emit.Option{emit.ModuleOption("the module of target python, which has the kernels: mylib._kernels")},
	Contracts: true, ContractNeeds: []string{"kernels", "python"},
	OnRequest: true,
	Limits:    limits,
	Manifest:  manifest,
}

// view is the data of both templates.
type view struct {
	Module  string
	Package string // of the module, with a dot behind it
	Kernels []kernelView
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	v := view{Module: m.Module(), Package: packageOf(m.Module())}
	all := traced.DTypes(m.Release, func(string) bool { return true })
	var made []*contract.Kernel
	var errs []error
	for i := range m.Contracts {
		k := &m.Contracts[i]
		errs = append(errs, inexpressible(k)...)
		v.Kernels, made = append(v.Kernels, viewKernel(k)), append(made, k)
	}
	if err := errors.Join(errs...); err != nil {
		return emit.Manifest{}, err
	}
	return emit.Manifest{Assets: []emit.Asset{
		{From: "paddle/kernels_paddle.c.tmpl", To: "kernels_paddle.c", View: v, Parts: traced.C("paddle", made),
			Unit: true},
		{From: "paddle/kernels_paddle.py.tmpl", To: "kernels_paddle.py", View: v},
		{From: "paddle/dlpackgen_paddle.py.tmpl", To: "dlpackgen_paddle.py", View: v,
			Parts: append(traced.Python(m.Release, all), emit.Copies("paddle", "", parts...)...)},
	}}, nil
}

// parts are the parts of dlpackgen_paddle.py.
var parts = []string{"tensors.py", "shapes.py", "graphs.py", "gradients.py", "functions.py"}

// packageOf returns the package of a module.
func packageOf(module string) string { return module[:strings.LastIndex(module, ".")+1] }

// dtypes are the dtypes of Paddle's tensors.
var dtypes = []string{"bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64",
	"float8_e4m3fn", "float8_e5m2", "complex64", "complex128"}

func hasDType(name string) bool { return slices.Contains(dtypes, name) }

// inexpressible reports the parts of a kernel that Paddle cannot express.
func inexpressible(k *contract.Kernel) (errs []error) {
	fail := func(param, format string, args ...any) {
		errs = append(errs, emit.CannotMake(k.Name, param, format, args...))
	}
	for _, p := range slices.Concat(k.Args, k.Results) {
		if p.Kind == contract.Tensor && len(p.Types) == 1 && !hasDType(p.Types[0].Name) {
			fail(p.Name, "has %s of %s, a dtype that Paddle lacks", p.Name, p.Types[0].Name)
		}
	}
	if room := emit.MaxParameters; k.Saves() && len(k.Args)+len(k.Results) > room {
		fail("", "has %d arguments and results, with those that its backward saves: Paddle's gradients have room for %d",
			len(k.Args)+len(k.Results), room)
	}
	return errs
}

// limits lists the features of a kernel that Paddle does not support.
func limits(k *contract.Kernel) []string {
	all := withoutTensors(k)
	if reason := outsideGraphs(k); reason != "" {
		all = append(all, "no static graph: "+reason)
	} else {
		all = append(all, "no paddle.jit.save of graphs")
	}
	if k.Backward != nil {
		all = append(all, "no second derivatives")
	}
	return append(all, emit.OnTheCPU(k, "")...)
}

// outsideGraphs returns why a static graph cannot contain a kernel, or "".
func outsideGraphs(k *contract.Kernel) string {
	for _, p := range k.Args {
		switch {
		case p.Kind == contract.Tensor && p.Writes():
			return "it writes to " + p.Name
		case p.Layout == contract.ColumnMajor:
			return p.Name + " is column_major"
		}
	}
	for _, p := range k.Returned() {
		if p.Kind != contract.Tensor {
			return "it returns the scalar " + p.Name
		}
	}
	return ""
}

// devices are those that __dlpack_device__ of Paddle's tensors returns.
var devices = []string{"kDLCPU", "kDLCUDA", "kDLCUDAHost", "kDLOneAPI"}

// withoutTensors lists the devices of a kernel on which Paddle has no tensors, so that its
// functions for them are never called.
func withoutTensors(k *contract.Kernel) (all []string) {
	for _, d := range k.Devices {
		if !slices.Contains(devices, d.Name) {
			all = append(all, "Paddle has no tensors on "+d.Name)
		}
	}
	return all
}
