// Package kernels is the target "kernels": the prototypes of the C functions that a config
// describes, and the checks of their descriptions as straight lines of C. It resolves nothing:
// internal/kernel/contract does.
package kernels

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:      "kernels",
	Doc:       "kernels that the config describes: prototypes, checks and calls; C, C++",
	Path:      "kernels",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Contracts: true,
	OnRequest: true,
	Manifest:  manifest,
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	view := viewAll(m.Contracts)
	parts := emit.Copies("kernels", "", "arithmetic.h", "demands.h")
	if view.Serial {
		parts = append(parts, emit.Copies("kernels", "", "serial.h")...)
	}
	return emit.Manifest{Assets: []emit.Asset{
		{From: "kernels/kernels.h.tmpl", To: "kernels.h", View: view, Main: true},
		{From: "kernels/kernels.c.tmpl", To: "kernels.c", View: view, Parts: parts},
	}}, nil
}

// all is what both templates show.
type all struct {
	Kernels []kernelView
	Errors  []string
	MaxNDim int
	Serial  bool
}

func viewAll(described []contract.Kernel) all {
	v := all{MaxNDim: contract.MaxNDim}
	for i := range described {
		k := &described[i]
		v.Kernels = append(v.Kernels, viewKernel(k))
		v.Serial = v.Serial || k.Serial
		if k.Error != "" && !slices.Contains(v.Errors, k.Error) {
			v.Errors = append(v.Errors, k.Error)
		}
	}
	return v
}
