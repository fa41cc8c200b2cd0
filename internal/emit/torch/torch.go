// Package torch is the target "torch": the exchange table, the consumer and the
// kernels of PyTorch, which are compiled against libtorch. It copies the sources
// of templates/torch and knows no rule of the protocol itself.
package torch

import (
	"errors"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
)

// Target is the row of the table of targets. The capsule that consumers find the
// table by came with 1.3.
var Target = emit.Target{
	Name:      "torch",
	Doc:       "PyTorch, by its C++: an exchange table for torch.Tensor, at::Tensor from any library",
	Path:      "cpp",
	Oldest:    "1.3",
	Needs:     []string{"c", "cpp"},
	Contracts: true, ContractNeeds: []string{"kernels"},
	Limits:   dispatcher.Limits,
	Manifest: manifest,
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen_torch/"

func manifest(m *emit.Model) (emit.Manifest, error) {
	kernels, err := kernelAssets(m)
	return emit.Manifest{
		Words: emit.NamespaceWords(emit.Namespace(m.Release)),
		Assets: slices.Concat(kernels, []emit.Asset{emit.DeviceInterface(folder), dtypes(m.Release)},
			emit.Copies("torch", folder, sources...), headers()),
	}, errors.Join(emit.Needs(m.Release, "the sources for torch build on", emit.Lacking(m.Release)...), err)
}

// sources are those that have no parts and that neither the spec nor a config decides.
var sources = []string{
	"__init__.py", "direct.py", "module.cpp", "read.hpp", "self_test.hpp", "stable_module.cpp",
	"stream.hpp", "table.hpp",
}

// headers are those that have parts. Several headers have some parts in common, so all parts keep
// their guards; a part that an included header has is taken from there.
func headers() []emit.Asset {
	consumer := []string{"offered.hpp", "queries.hpp"}
	return []emit.Asset{
		header("device.hpp", "checked.hpp", "exceptions.hpp", "gil.hpp", "base.hpp"),
		header("errors.hpp", "exceptions.hpp", "base.hpp"),
		header("held.hpp", "gil.hpp", "base.hpp"),
		header("install.hpp", "adopted.hpp"),
		headerOver("table.hpp", "object.hpp", consumer...),
		header("owned.hpp", "pool.hpp", "base.hpp"),
		headerOver("stable_take.hpp", "stable_object.hpp", consumer...),
		header("stable_take.hpp", "checked.hpp", "exceptions.hpp", "gil.hpp", "base.hpp"),
		header("strides.hpp", "base.hpp"),
		headerOver("device.hpp", "take.hpp"),
	}
}

// headerOver is a header with parts that includes another one, which has the checks.
func headerOver(holder, name string, parts ...string) emit.Asset {
	made := header(name, parts...)
	made.Known = map[string]string{holder: holder, "checked.hpp": holder, "exceptions.hpp": holder}
	return made
}

// header is a header with parts.
func header(name string, parts ...string) emit.Asset {
	return emit.Asset{From: "torch/" + name, To: folder + name, Guards: true, Parts: emit.Copies("torch", "", parts...)}
}
