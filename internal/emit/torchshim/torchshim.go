// Package torchshim implements target "torchshim": described kernels as PyTorch operators in plain
// C, which looks up PyTorch's C shim at run time. It needs no header of PyTorch, so one library
// works with many versions.
package torchshim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "torchshim",
	Doc:       "described kernels as operators of PyTorch 2.10 and newer, in plain C without its headers",
	Path:      "torchshim",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Contracts: true, ContractNeeds: []string{"kernels"},
	OnRequest: true,
	Options:   []emit.Option{moduleOption},
	Limits:    limits,
	Manifest:  manifest,
}

// limits adds the limits of an operator in C++ without an autograd rule: torch.func finds no
// function to call, and continues without gradients.
func limits(k *contract.Kernel) []string {
	all := dispatcher.Limits(k)
	if k.Backward == nil {
		all = append(all, "no backward: torch.func.grad and torch.func.jvp treat its derivatives as zero")
	}
	return all
}

// moduleOption is the option for the library that contains the operators.
var moduleOption = emit.ModuleOption(
	"the Python module whose library contains the operators, with its package: mylib._kernels")

// view is the data of the templates.
type view struct {
	Module, Import string
	Most           int
	Operators      []operator
	DTypes         []dtype
}

// dtype is an element type by its name in PyTorch.
type dtype struct {
	Name, Code  string
	Bits, Lanes int
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	var errs []error
	for i := range m.Contracts {
		errs = append(errs, dispatcher.Unregistered(m.Release, &m.Contracts[i])...)
		errs = append(errs, unreported(m.Release, &m.Contracts[i])...)
	}
	if err := errors.Join(errs...); err != nil {
		return emit.Manifest{}, err
	}
	v := view{Module: m.Module(), Most: 1, DTypes: dtypes(m.Release)}
	v.Import = importOf(v.Module)
	for i := range m.Contracts {
		v.Operators = append(v.Operators, viewOperators(m.Release, &m.Contracts[i])...)
		v.Most = max(v.Most, len(m.Contracts[i].Results)+1)
	}
	for i := range v.Operators {
		v.Operators[i].Index = i
	}
	parts := append([]emit.Asset{emit.HostABI("torch_shim"), emit.HostABI("torch_cpp")},
		emit.Copies("torchshim", "", "call.h", "library.h", "loaded.h", "raise.h", "values.h")...)
	parts = append(parts,
		emit.Asset{From: "torchshim/devices.h.tmpl", To: "devices.h", View: devices{reported(m.Release)}})
	return emit.Manifest{Assets: []emit.Asset{
		{From: "torchshim/kernels_torch.c.tmpl", To: "kernels_torch.c", View: v, Parts: parts, Unit: true},
		{From: "torchshim/kernels_torch.py.tmpl", To: "kernels_torch.py", View: v},
		{From: "torchshim/dlpackgen_torchshim.py", To: "dlpackgen_torchshim.py",
			Parts: append(emit.Copies("torchshim", "", "fakes.py", "derivatives.py"),
				append(emit.Copies("traced", "", "ordinals.py"), emit.PythonStatuses(m.Release))...)},
	}}, nil
}

// devices is the data of templates/torchshim/devices.h.tmpl.
type devices struct{ Devices []spec.TorchKeyTypes }

// reported returns the device types of PyTorch that its C shim reports.
func reported(r *spec.Release) []spec.TorchKeyTypes {
	return slices.DeleteFunc(r.TorchKeys(), func(k spec.TorchKeyTypes) bool {
		return !slices.ContainsFunc(hosts.Embedded("torch_shim").Functions, func(f hosts.Function) bool {
			return f.Name == "device_"+k.Name
		})
	})
}

// unreported reports the devices of a kernel that PyTorch's C shim does not report.
func unreported(r *spec.Release, k *contract.Kernel) (errs []error) {
	for _, d := range k.Devices {
		key := dispatcher.Key(r, d)
		if key != "" && !slices.ContainsFunc(reported(r), func(t spec.TorchKeyTypes) bool { return t.Key == key }) {
			errs = append(errs, emit.CannotMake(
				k.Name, "", "is for %s, which PyTorch's C shim does not report", d.Name))
		}
	}
	return errs
}

// importOf returns an import of a module in the same package.
func importOf(module string) string {
	if at := strings.LastIndex(module, "."); at >= 0 {
		return "from " + module[:at] + " import dlpackgen_torchshim as shim"
	}
	return "import dlpackgen_torchshim as shim"
}

// dtypes returns the PyTorch types that the spec names.
func dtypes(r *spec.Release) (all []dtype) {
	for _, d := range r.DTypes {
		if d.Torch.Type == "" {
			continue
		}
		one := dtype{Name: d.Name, Code: d.Code, Bits: d.Bits, Lanes: d.Lanes * d.Torch.Lanes}
		if d.Torch.Lanes > 1 {
			one.Name = fmt.Sprintf("%s_x%d", d.Name, d.Torch.Lanes)
		}
		all = append(all, one)
	}
	return all
}
