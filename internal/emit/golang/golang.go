// Package golang implements targets "go" and "gokernels". The files that depend on the spec are
// rendered with jennifer; the runtime is copied from templates/go.
package golang

import (
	"fmt"
	"go/token"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

const optionPackage = "package"

// Target is the row of target go. The runtime uses the versioned struct and the rules of 1.2, which
// determines the oldest release.
var Target = emit.Target{
	Name:   "go",
	Doc:    "Go bindings through cgo: mirrors of the structs, import and export of tensors",
	Path:   "go/dlpack",
	Oldest: "1.2",
	Options: []emit.Option{
		{Name: optionPackage, Doc: "name of the Go package", Default: "dlpack", Check: checkPackage},
		emit.ImportOption("; without either, the packages below it are omitted, because they import it"),
	},
	Clashes:   clashes,
	Contracts: true, ContractNeeds: []string{"kernels"},
	Limits: func(k *contract.Kernel) []string {
		if k.GoFunc != "" {
			return []string{"left out: Go calls " + k.GoFunc + " itself"}
		}
		return append(emit.WithoutGradients(k), emit.OnTheCPU(k, "New")...)
	},
	Manifest: manifest,
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	b, err := newBinding(m)
	if err != nil {
		return emit.Manifest{}, err
	}
	rendered, err := b.rendered()
	if err != nil {
		return emit.Manifest{}, err
	}
	called, err := b.callers(m.Contracts)
	return emit.Manifest{Assets: append(append(rendered, b.copied()...), called...)}, err
}

func checkPackage(value string) string {
	if !token.IsIdentifier(value) || value == "_" || value == "main" {
		return fmt.Sprintf("%q cannot be the name of an importable Go package", value)
	}
	return ""
}
