// Package ufunc implements target "ufunc": described kernels as generalized ufuncs of NumPy. The
// loops are in C, in the library of target python's module. Python code creates the ufuncs.
package ufunc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:   "ufunc",
	Doc:    "described kernels as generalized ufuncs of NumPy, in C; Python creates them",
	Path:   "ufunc",
	Oldest: "1.3",
	Needs:  []string{"c"},
	Options: []emit.Option{emit.ModuleOption(
		"the module of target python, whose library has the loops: mylib._kernels")},
	Contracts: true, ContractNeeds: []string{"kernels", "python"},
	OnRequest: true,
	Limits:    limits,
	Manifest:  manifest,
}

// view is the data of both templates.
type view struct {
	Module  string
	Kernels []kernelView
	LeftOut []string // why other kernels are not gufuncs
}

// manifest omits kernels that cannot be gufuncs, such as most gradients, but at least one kernel
// must remain.
func manifest(m *emit.Model) (emit.Manifest, error) {
	v := view{Module: m.Module()}
	var errs []error
	for i := range m.Contracts {
		g, err := newGufunc(m.Release, &m.Contracts[i])
		if err != nil {
			errs = append(errs, err)
			v.LeftOut = append(v.LeftOut, err.Error())
			continue
		}
		v.Kernels = append(v.Kernels, g.view())
	}
	parts := append(emit.Copies("ufunc", "", "loop.h", "operands.h"), emit.HostABI("numpy"),
		emit.Asset{From: "c/block.h", To: "block.h"})
	made := emit.Manifest{LeftOut: errors.Join(errs...), Assets: []emit.Asset{
		{From: "ufunc/kernels_ufunc.c.tmpl", To: "kernels_ufunc.c", View: v, Parts: parts, Unit: true},
		{From: "ufunc/kernels_ufunc.py.tmpl", To: "kernels_ufunc.py", View: v},
	}}
	if len(v.Kernels) == 0 {
		return made, made.LeftOut
	}
	return made, nil
}

// limits lists the features of a kernel that a gufunc does not support.
func limits(k *contract.Kernel) []string {
	all := emit.WithoutGradients(k)
	if slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name != "kDLCPU" }) {
		all = append(all, "runs only on the CPU")
	}
	for _, p := range k.Args {
		if p.Default != nil {
			all = append(all, fmt.Sprintf("%s is always %s", p.Name, p.Default))
		} else if p.Optional {
			all = append(all, p.Name+" is always passed")
		}
	}
	return append(all, emit.WithoutDTypesOfNumPy(k)...)
}
