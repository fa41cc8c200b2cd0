// Package jax implements target "jax": described kernels as handlers of XLA's FFI, in C, and the
// JAX functions that call them, in Python. The handlers are in the library of target python's
// module. kernels.c contains the checks.
package jax

import (
	"errors"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/traced"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "jax",
	Doc:       "described kernels in JAX: XLA FFI handlers in plain C, and Python functions that call them",
	Path:      "jax",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Options:   []emit.Option{moduleOption},
	Contracts: true, ContractNeeds: []string{"kernels", "python"},
	OnRequest: true,
	Limits:    limits,
	Manifest:  manifest,
}

// moduleOption is the option for the module of target python, whose library contains the handlers.
var moduleOption = emit.ModuleOption(
	"the module of target python, whose library has the handlers: mylib._kernels")

// hostName is the host in spec/hosts that calls the handlers.
const hostName = "xla_ffi"

// The sources of the two outputs.
var (
	partsC      = []string{"handler.h", "parameters.h"}
	partsPython = []string{"transforms.py"}
)

func manifest(m *emit.Model) (emit.Manifest, error) {
	host := hosts.Embedded(hostName)
	view := view{Module: m.Module(), DTypes: dtypes(m.Release, host)}
	var errs []error
	var made []*contract.Kernel
	for i := range m.Contracts {
		k := &m.Contracts[i]
		if wrong := inexpressible(k, view.DTypes); len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		view.Kernels, made = append(view.Kernels, viewKernel(k)), append(made, k)
	}
	c := append(append(emit.Copies("jax", "", partsC...), traced.C("jax", made)...), emit.HostABI(hostName))
	return emit.Manifest{Assets: []emit.Asset{
		{From: "jax/kernels_jax.c.tmpl", To: "kernels_jax.c", View: view, Parts: c, Unit: true},
		{From: "jax/kernels_jax.py.tmpl", To: "kernels_jax.py", View: view,
			Parts: append(traced.Python(m.Release, common(view.DTypes)), emit.Copies("jax", "", partsPython...)...)},
	}}, errors.Join(errs...)
}

// view is the data of both templates.
type view struct {
	Module  string
	DTypes  []dtype
	Kernels []kernelView
}

// dtype is a dtype of both DLPack and XLA.
type dtype struct {
	traced.DType
	Number string // of XLA
}

// dtypes pairs the spec's dtypes with XLA's, by their names.
func dtypes(r *spec.Release, host *hosts.Host) (all []dtype) {
	has := func(name string) bool {
		return slices.ContainsFunc(host.Constants,
			func(c hosts.Constant) bool { return c.Name == "dtype_"+short(name) })
	}
	for _, d := range traced.DTypes(r, has) {
		all = append(all, dtype{d, "DLPACKGEN_XLA_FFI_DTYPE_" + strings.ToUpper(short(d.Name))})
	}
	return all
}

// common returns the dtypes as Python passes them to the checks.
func common(dtypes []dtype) (all []traced.DType) {
	for _, d := range dtypes {
		all = append(all, d.DType)
	}
	return all
}

// short returns XLA's name of a dtype: float8_e5m2 is f8e5m2.
func short(name string) string {
	return strings.NewReplacer("bfloat", "bf", "bcomplex", "bc", "complex", "c", "uint", "u", "int", "s", "float", "f",
		"bool", "pred", "_", "").Replace(name)
}

// platforms are XLA's platforms, by DLPack device type.
var platforms = map[string]string{"kDLCPU": "cpu", "kDLCUDA": "CUDA", "kDLROCM": "ROCM"}

// inexpressible reports the parts of a kernel that XLA cannot express.
func inexpressible(k *contract.Kernel, known []dtype) (errs []error) {
	fail := func(param, format string, args ...any) {
		errs = append(errs, emit.CannotMake(k.Name, param, format, args...))
	}
	for _, p := range k.Results {
		if p.Kind != contract.Tensor {
			fail(p.Name, "returns the scalar %s, which XLA cannot: write %s for a tensor of rank 0", p.Name,
				p.AsTensor())
		}
	}
	for _, p := range slices.Concat(k.Args, k.Results) {
		if p.Kind != contract.Tensor {
			continue
		}
		for _, d := range p.Types {
			if !slices.ContainsFunc(known, func(x dtype) bool { return x.Name == d.Name }) && len(p.Types) == 1 {
				fail(p.Name, "has %s of %s, a dtype that XLA lacks", p.Name, d.Name)
			}
		}
	}
	for _, d := range k.Devices {
		if platforms[d.Name] == "" {
			fail("", "is for %s, which is not a platform of XLA", d.Name)
		}
		if i := slices.IndexFunc(k.Args, func(p contract.Param) bool { return p.CPU }); i >= 0 && d.Name != "kDLCPU" {
			fail(k.Args[i].Name, "has %s in the host's memory: XLA passes all buffers in the memory of %s",
				k.Args[i].Name,
				d.Name)
		}
	}
	if len(k.Args) > 62 {
		fail("", "has %d arguments: target jax has room for 62", len(k.Args))
	}
	return errs
}
