// Package onnxruntime implements target "onnxruntime": described kernels as custom operators of
// ONNX Runtime, in plain C that compiles without its header.
package onnxruntime

import (
	"errors"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "onnxruntime",
	Doc:       "described kernels as custom operators of ONNX Runtime; C",
	Path:      "onnxruntime",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Contracts: true, ContractNeeds: []string{"kernels"},
	OnRequest: true,
	Limits:    limits,
	Manifest:  manifest,
}

// limits lists the features of a kernel that ONNX Runtime does not support.
func limits(k *contract.Kernel) []string {
	all := slices.Concat(emit.WithoutGradients(k), emit.WithoutDTypes(k, "ONNX Runtime", supports))
	isReal := func(p contract.Param) bool { return p.Kind == contract.Float || p.Kind == contract.Floats }
	if slices.ContainsFunc(k.Args, isReal) {
		all = append(all, "floats of nodes have 32 bits")
	}
	if slices.ContainsFunc(k.Args, func(p contract.Param) bool { return p.Layout != contract.Contiguous }) {
		all = append(all, "no strides: ONNX Runtime passes C-contiguous tensors")
	}
	for _, p := range k.Args {
		if p.Optional && p.Default != nil {
			all = append(all, p.Name+" is never None: a node without it has the default")
		}
	}
	if slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name != "kDLCPU" }) {
		all = append(all, "runs only on the CPU")
	}
	return all
}

// host is the description in spec/hosts.
const host = "onnxruntime"

// view is the data of the template.
type view struct {
	Domains []string
	Kernels []kernelView
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	var v view
	var errs []error
	for i := range m.Contracts {
		k := &m.Contracts[i]
		if wrong := inexpressible(k); len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		if domain := emit.CLiteral(k.Namespace); !slices.Contains(v.Domains, domain) {
			v.Domains = append(v.Domains, domain)
		}
		v.Kernels = append(v.Kernels, viewKernel(k))
	}
	parts := append([]emit.Asset{emit.HostABI(host), {From: "c/block.h", To: "block.h"}},
		emit.Copies("onnxruntime", "", "attributes.h", "operator.h", "tensors.h")...)
	parts = append(parts, emit.Asset{From: "onnxruntime/dtypes.h.tmpl", To: "dtypes.h", View: dtypesOf(m.Release)})
	return emit.Manifest{Assets: []emit.Asset{
		{From: "onnxruntime/kernels_onnxruntime.c.tmpl", To: "kernels_onnxruntime.c", View: v, Parts: parts,
			Unit: true},
	}}, errors.Join(errs...)
}
