// Package cpp implements target "cpp": header-only C++17 for owned and borrowed tensors. It fills
// the templates of templates/cpp, and copies the headers that do not depend on the spec.
package cpp

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Target is the row of the table of targets. The headers use both managed tensors and the exchange
// table, which determines the oldest release.
var Target = emit.Target{
	Name:   "cpp",
	Doc:    "C++17, header only: owning and borrowed tensors, builders, views, exchange tables",
	Path:   "cpp",
	Oldest: "1.2",
	Options: []emit.Option{{Name: optionSingle, Doc: "true: one header, dlpackgen.hpp, instead of a folder",
		Default: "false", Bool: true}},
	Single: optionSingle, Interface: singleName,
	Needs: []string{"c"},
	Limits: func(k *contract.Kernel) []string {
		return append(emit.WithoutGradients(k), emit.OnTheCPU(k, "_new")...)
	},
	Manifest:  manifest,
	Contracts: true, ContractNeeds: []string{"kernels"},
}

// folder is the folder of the headers in #include lines.
const folder = "dlpackgen"

// optionSingle is the option for a single header instead of a folder, and singleName is its name.
const (
	optionSingle = "single"
	singleName   = "dlpackgen.hpp"
)

func manifest(m *emit.Model) (emit.Manifest, error) {
	made := folderOf
	if m.Options[optionSingle] == "true" {
		made = single
	}
	called, err := callers(m)
	return emit.Manifest{Words: emit.NamespaceWords(emit.Namespace(m.Release)),
		Assets: append(made(m.Release), called...)}, errors.Join(err, checkNeeds(m.Release))
}

// folderOf lists the headers that users include. Parts of several headers keep their include
// guards.
func folderOf(r *spec.Release) []emit.Asset {
	base, release := emit.Copies("cpp", "", "base.hpp"), releaseHeader(r, "")
	bound := append(emit.Copies("cpp", "", binding...), base[0])
	with := func(name string, parts ...emit.Asset) emit.Asset {
		return emit.Asset{From: "cpp/" + name, To: path.Join(folder, name), Guards: true, Parts: parts}
	}
	layout := layoutHeader(r, folder)
	layout.Guards, layout.Parts = true, base
	return append(emit.Copies("cpp", folder, headers...), layout, storageHeader(r, folder),
		with("dtype.hpp", release, base[0]), with("error.hpp", base...), with("python_error.hpp", base...),
		with("nanobind.hpp", bound...), with("pybind11.hpp", bound...),
		emit.Asset{From: "cpp/builder.hpp", To: folder + "/builder.hpp", Parts: emit.Copies("cpp", "", container)})
}

// single lists the single header. Its parts keep their include guards, so that a program may
// include both forms.
func single(r *spec.Release) []emit.Asset {
	parts := append(emit.Copies("cpp", "", slices.Concat(
		withParts, []string{"base.hpp", container}, binding, headers)...),
		layoutHeader(r, ""), releaseHeader(r, ""), storageHeader(r, ""))
	return []emit.Asset{{From: "cpp/single.hpp", To: singleName, Guards: true, Parts: parts}}
}

// The headers that depend on the spec.
func layoutHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/layout.hpp.tmpl", To: path.Join(folder, "layout.hpp"), View: viewLayout(r)}
}

func releaseHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/release.hpp.tmpl", To: path.Join(folder, "release.hpp"), View: viewRelease(r)}
}

func storageHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/storage.hpp.tmpl", To: path.Join(folder, "storage.hpp"), View: viewStorage(r)}
}

// container is a part only of builder.hpp.
const container = "container.hpp"

// binding are the parts only of nanobind.hpp and pybind11.hpp.
var binding = []string{"bound.hpp", "signature.hpp"}

// withParts are the copied headers with parts.
var withParts = []string{
	"builder.hpp", "dtype.hpp", "error.hpp", "nanobind.hpp", "pybind11.hpp", "python_error.hpp",
}

// headers are the other copied headers.
var headers = []string{
	"all.hpp", "argument.hpp", "array_view.hpp", "complex.hpp", "core.hpp", "eigen.hpp", "exceptions.hpp",
	"exchange.hpp", "managed.hpp", "mdspan.hpp", "message.hpp", "packed.hpp", "producer.hpp", "python.hpp",
	"span.hpp", "stdfloat.hpp", "tensor_view.hpp", "validate.hpp",
}

// names are the words that every template uses.
type names struct {
	Version   string
	Namespace string // v1_3
	Guard     string // V1_3
}

func namesOf(r *spec.Release) names {
	return names{r.Version, emit.Namespace(r), strings.ToUpper(emit.Namespace(r))}
}

// checkNeeds reports entities that the headers use by name and a user's spec lacks.
func checkNeeds(r *spec.Release) error {
	return emit.Needs(r, "the headers build on", emit.Lacking(r)...)
}
