package golang

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// optionFunctions is the option that names the package with the functions of the kernels.
const optionFunctions = "functions"

// Library is the row of target gokernels: a package main that builds one library from the kernels
// in Go and all callers.
var Library = emit.Target{
	Name:   "gokernels",
	Doc:    "the library of kernels with `lang: go`: a Go program for -buildmode=c-shared, with all callers in C",
	Path:   "gokernels",
	Oldest: "1.3",
	Options: []emit.Option{
		{Name: optionFunctions, Check: emit.CheckImport, Required: true, Example: "example.com/mylib/functions",
			Doc: "import path of the Go package with the functions of the kernels"},
	},
	Contracts: true, ContractNeeds: []string{"go", "kernels"},
	Imports:   []string{"go"},
	OnRequest: true, Collects: true,
	Limits: func(k *contract.Kernel) []string {
		if k.GoFunc == "" {
			return nil
		}
		return []string{"the library stays loaded, and a process that has forked must not call it"}
	},
	Manifest: library,
}

func library(m *emit.Model) (emit.Manifest, error) {
	described := contract.InGo(m.Contracts)
	b, err := newBinding(m)
	if err != nil {
		return emit.Manifest{}, err
	}
	v := libraryView{Library: m.Library, Functions: m.Options[optionFunctions], Exceptions: slices.ContainsFunc(
		m.Library.Units, func(u string) bool { return path.Base(u) == "kernels_torch.c" })}
	var errs []error
	for i := range described {
		w := newTrampoline(b, &described[i])
		v.Kernels = append(v.Kernels, w.view())
		errs = append(errs, w.errs...)
	}
	return emit.Manifest{Assets: libraryAssets(v), Words: emit.Words{
		templatePrefix, emit.GoPrefix(v.Functions), templateImport, cmp.Or(m.Imports["go"], "dlpackgen.invalid/go"),
		templateFunctions, cmp.Or(v.Functions, "dlpackgen.invalid/functions")}}, errors.Join(errs...)
}

// templateFunctions is the placeholder for the import path of the author's package.
const templateFunctions = "dlpackgen.invalid/functions"

// libraryView is the data of the templates.
type libraryView struct {
	emit.Library
	Functions string
	Kernels   []trampolineView
	Unit      string // of one file

	Exceptions bool // of C++ pass through a file of C, as through PyTorch's shim
}

func libraryAssets(v libraryView) []emit.Asset {
	all := []emit.Asset{emit.GoGuard("", "main"),
		{From: "go/library/main.go.tmpl", To: "main.go", View: v, Gofmt: true},
		{From: "go/library/trampolines.go.tmpl", To: "trampolines.go", View: v, Gofmt: true},
		{From: "go/library/trampolines.c.tmpl", To: "trampolines.c", View: v},
		{From: "go/library/trampolines.h.tmpl", To: "trampolines.h", View: v},
		{From: "go/library/failure.go", To: "failure.go"},
	}
	for _, unit := range v.Units {
		one := v
		one.Unit = unit
		name := "unit_" + strings.NewReplacer("../", "", "/", "_").Replace(unit)
		all = append(all, emit.Asset{From: "go/library/unit.c.tmpl", To: name, View: one})
	}
	return all
}
