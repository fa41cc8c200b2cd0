// Package cpp is the target "cpp": owning and borrowing tensors in C++17, header
// only. It puts words and numbers into the templates of templates/cpp, and copies
// the headers that the spec does not decide.
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

// Target is the row of the table of targets. Every header works with both managed
// tensors and the exchange table, hence the oldest release.
var Target = emit.Target{
	Name:   "cpp",
	Doc:    "C++17, header only: owning and borrowed tensors, builders, views, exchange tables",
	Path:   "cpp",
	Oldest: "1.2",
	Options: []emit.Option{{Name: optionSingle, Doc: "true: one header, dlpackgen.hpp, in the place of a folder",
		Default: "false", Bool: true}},
	Single: optionSingle,
	Needs:  []string{"c"},
	Limits: func(k *contract.Kernel) []string {
		return append(emit.WithoutGradients(k), emit.OnTheCPU(k, "_new")...)
	},
	Manifest:  manifest,
	Contracts: true, ContractNeeds: []string{"kernels"},
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen"

// optionSingle is the option for one header in the place of a folder of them.
const optionSingle = "single"

func manifest(m *emit.Model) (emit.Manifest, error) {
	made := folderOf
	if m.Options[optionSingle] == "true" {
		made = single
	}
	called, err := callers(m)
	return emit.Manifest{Words: emit.NamespaceWords(emit.Namespace(m.Release)),
		Assets: append(made(m.Release), called...)}, errors.Join(err, checkNeeds(m.Release))
}

// folderOf lists a header for each thing that a user includes. Parts that several of them have keep
// their guards.
func folderOf(r *spec.Release) []emit.Asset {
	base, release := emit.Copies("cpp", "", "base.hpp"), releaseHeader(r, "")
	with := func(name string, parts ...emit.Asset) emit.Asset {
		return emit.Asset{From: "cpp/" + name, To: path.Join(folder, name), Guards: true, Parts: parts}
	}
	layout := layoutHeader(r, folder)
	layout.Guards, layout.Parts = true, base
	return append(emit.Copies("cpp", folder, headers...), layout, storageHeader(r, folder),
		with("dtype.hpp", release, base[0]), with("error.hpp", base...), with("python_error.hpp", base...),
		with("signature.hpp", base...),
		emit.Asset{From: "cpp/builder.hpp", To: folder + "/builder.hpp", Parts: emit.Copies("cpp", "", container)})
}

// single lists the one header. It keeps the guards of its parts, so that a program may
// include both forms.
func single(r *spec.Release) []emit.Asset {
	parts := append(emit.Copies("cpp", "", slices.Concat(withParts, []string{"base.hpp", container}, headers)...),
		layoutHeader(r, ""), releaseHeader(r, ""), storageHeader(r, ""))
	return []emit.Asset{{From: "cpp/single.hpp", To: "dlpackgen.hpp", Main: true, Guards: true, Parts: parts}}
}

// The headers that the spec decides.
func layoutHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/layout.hpp.tmpl", To: path.Join(folder, "layout.hpp"), View: viewLayout(r)}
}

func releaseHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/release.hpp.tmpl", To: path.Join(folder, "release.hpp"), View: viewRelease(r)}
}

func storageHeader(r *spec.Release, folder string) emit.Asset {
	return emit.Asset{From: "cpp/storage.hpp.tmpl", To: path.Join(folder, "storage.hpp"), View: viewStorage(r)}
}

// container is a part of builder.hpp alone.
const container = "container.hpp"

// withParts are the copied headers that have parts.
var withParts = []string{"builder.hpp", "dtype.hpp", "error.hpp", "python_error.hpp", "signature.hpp"}

// headers are the other ones that the spec does not decide.
var headers = []string{
	"all.hpp", "argument.hpp", "array_view.hpp", "bound.hpp", "complex.hpp", "core.hpp", "eigen.hpp", "exceptions.hpp",
	"exchange.hpp", "managed.hpp", "mdspan.hpp", "message.hpp", "nanobind.hpp", "packed.hpp", "producer.hpp",
	"pybind11.hpp", "python.hpp", "span.hpp", "stdfloat.hpp", "tensor_view.hpp", "validate.hpp",
}

// names are those that every template puts in.
type names struct {
	Version   string
	Namespace string // v1_3
	Guard     string // V1_3
}

func namesOf(r *spec.Release) names {
	return names{r.Version, emit.Namespace(r), strings.ToUpper(emit.Namespace(r))}
}

// checkNeeds reports what a spec of one's own lacks of the entities that the
// headers know by name.
func checkNeeds(r *spec.Release) error {
	return emit.Needs(r, "the headers build on", emit.Lacking(r)...)
}
