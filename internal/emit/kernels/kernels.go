// Package kernels implements target "kernels": kernels.h and kernels.c for the kernels of a config.
package kernels

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:       "kernels",
	Doc:        "described kernels: prototypes, checks and calls; C, C++",
	Path:       "kernels",
	Oldest:     "1.3",
	Needs:      []string{"c"},
	Contracts:  true,
	Prefixable: true,
	OnRequest:  true,
	Options: []emit.Option{{Name: optionStubs, Default: "false", Bool: true,
		Doc: "true: write NAME_impl.c, and NAME_impl.cu for CUDA, for each kernel without one: a stub of its C " +
			"code, which then belongs to you"}},
	Manifest:  manifest,
	Interface: checks.HeaderName,
}

// optionStubs is the option for stubs in C.
const optionStubs = "stubs"

func manifest(m *emit.Model) (emit.Manifest, error) {
	header, source := checks.Assets(m.Release, m.Contracts)
	made := emit.Manifest{Assets: []emit.Asset{header, source}}
	if m.Options[optionStubs] == "true" {
		made.Assets = append(made.Assets, checks.Stubs(m.Contracts)...)
	}
	return made, nil
}
