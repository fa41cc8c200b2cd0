// Package checks generates the prototypes of described C functions, and the checks of their
// arguments as straight-line C. It provides them as assets, for target kernels and for callers that
// contain them. internal/kernel/contract resolves the descriptions.
package checks

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// HeaderName is the name of the header with the prototypes.
const HeaderName = "kernels.h"

// Assets lists kernels.h, and kernels.c with its parts.
func Assets(r *spec.Release, described []contract.Kernel) (header, source emit.Asset) {
	view := viewAll(r, described)
	parts := emit.Copies("kernels", "", "arithmetic.h", "kernel_checks.h", "encoding.h")
	if view.Serial {
		parts = append(parts, emit.Copies("kernels", "", "serial.h")...)
	}
	return emit.Asset{From: "kernels/kernels.h.tmpl", To: HeaderName, View: view},
		emit.Asset{From: "kernels/kernels.c.tmpl", To: "kernels.c", View: view, Parts: parts, Unit: true}
}

// all is the data of both templates.
type all struct {
	Kernels []kernelView
	Errors  []string
	MaxNDim int
	Serial  bool
}

func viewAll(r *spec.Release, described []contract.Kernel) all {
	v := all{MaxNDim: r.Limits.NDim}
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
