// Package tvmffi implements target "tvmffi": described kernels as tvm-ffi functions, in plain C
// that compiles without tvm-ffi's headers, and a Python module that adds keywords and defaults.
package tvmffi

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "tvmffi",
	Doc:       "described kernels as tvm-ffi functions, for Python, C++, Rust and TVM; C",
	Path:      "tvmffi",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Contracts: true, ContractNeeds: []string{"kernels"},
	OnRequest: true,
	Options: []emit.Option{{Name: optionLegacy, Check: checkPrefix,
		Doc: "a prefix such as tvm_: also export PREFIXNAME as a TVMBackendPackedCFunc, for TVM before 0.20"}},
	Limits:   limits,
	Manifest: manifest,
}

// limits lists the features of a kernel that tvm-ffi does not support.
func limits(k *contract.Kernel) []string {
	all := emit.WithoutGradients(k)
	if len(k.Args) > 0 {
		all = append(all, "keywords only through kernels_tvmffi.py")
	}
	if slices.ContainsFunc(k.Returned(), func(p contract.Param) bool { return p.Kind == contract.Tensor }) {
		all = append(all, "results are allocated for torch and Paddle, and other callers pass memory")
	}
	if len(k.Written()) > 0 {
		all = append(all, "no check that written memory is not read-only: tvm-ffi does not report it")
	}
	return append(all, emit.OnTheCPU(k, "")...)
}

// optionLegacy is the option for functions of TVM before 0.20.
const optionLegacy = "legacy"

// host is the description in spec/hosts.
const host = "tvm_ffi"

// view is the data of the templates.
type view struct {
	Includes []string
	Kernels  []kernelView
	Python   []pythonView
	IsGo     bool // kernels are written in Go
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	v := view{Includes: []string{"results.h"}, IsGo: len(contract.InGo(m.Contracts)) > 0}
	if m.Options[optionLegacy] != "" {
		v.Includes = append(v.Includes, "packed.h")
	}
	for i := range m.Contracts {
		k := &m.Contracts[i]
		v.Kernels = append(v.Kernels, viewKernel(k, m.Options[optionLegacy]))
		v.Python = append(v.Python, viewPython(k))
	}
	parts := []emit.Asset{emit.HostABI(host), {From: "kernels/scalar.h", To: "scalar.h"},
		{From: "c/block.h", To: "block.h"}, {From: "c/copy.h", To: "copy.h"}}
	parts = append(parts, emit.Copies("tvmffi", "", "symbols.h", "values.h", "results.h")...)
	packed := emit.Asset{From: "tvmffi/packed.h", To: "packed.h", Spare: true}
	return emit.Manifest{Assets: []emit.Asset{
		{From: "tvmffi/kernels_tvmffi.c.tmpl", To: "kernels_tvmffi.c", View: v, Parts: append(parts, packed),
			Unit: true},
		{From: "tvmffi/kernels_tvmffi.py.tmpl", To: "kernels_tvmffi.py", View: v,
			Parts: emit.Copies("traced", "", "foreign.py")},
	}}, nil
}
