// Package kernels is the target "kernels": kernels.h and kernels.c for the kernels that a config
// describes.
package kernels

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
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
	header, source := checks.Assets(m.Contracts)
	return emit.Manifest{Assets: []emit.Asset{header, source}}, nil
}
