// Package torch implements target "torch": the exchange table, the consumer and the operators for
// PyTorch, which are compiled against libtorch. It copies and renders the sources of
// templates/torch.
package torch

import (
	"errors"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
)

// Target is the row of the table of targets. The capsule of the exchange table was introduced in
// 1.3.
var Target = emit.Target{
	Name:      "torch",
	Doc:       "PyTorch, through its C++ API: an exchange table for torch.Tensor, at::Tensor from any library",
	Path:      "cpp",
	Oldest:    "1.3",
	Needs:     []string{"c", "cpp"},
	Contracts: true, ContractNeeds: []string{"kernels"},
	Limits:   dispatcher.Limits,
	Manifest: manifest,
}

// folder is the folder of the files in #include lines.
const folder = "dlpackgen_torch/"

func manifest(m *emit.Model) (emit.Manifest, error) {
	kernels, err := kernelAssets(m)
	lacking := append(emit.Lacking(m.Release), emit.LackingNames(m.Release)...)
	return emit.Manifest{
		Words: emit.NamespaceWords(emit.Namespace(m.Release)),
		Assets: slices.Concat(kernels, []emit.Asset{emit.DeviceInterface(folder), dtypes(m.Release), reader(m.Release)},
			emit.Copies("torch", folder, sources...), headers()),
	}, errors.Join(emit.Needs(m.Release, "the sources for torch build on", lacking...), err)
}

// sources are the copied files without parts.
var sources = []string{
	"__init__.py", "direct.py", "module.cpp", "self_test.hpp", "stable_module.cpp",
	"stream.hpp", "table.hpp",
}

// headers are the files with parts. Several headers share parts, so all parts keep their guards. A
// part that an included header contains is not repeated.
func headers() []emit.Asset {
	consumer := []string{"foreign.hpp", "queries.hpp"}
	return []emit.Asset{
		header("device.hpp", "checked.hpp", "exceptions.hpp", "gil.hpp", "base.hpp"),
		header("errors.hpp", "exceptions.hpp", "base.hpp"),
		header("object_owned.hpp", "gil.hpp", "base.hpp"),
		header("install.hpp", "native_reader.hpp"),
		headerOver("table.hpp", "object.hpp", consumer...),
		header("owned.hpp", "pool.hpp", "base.hpp"),
		headerOver("stable_import.hpp", "stable_object.hpp", consumer...),
		header("stable_import.hpp", "checked.hpp", "exceptions.hpp", "gil.hpp", "base.hpp"),
		header("strides.hpp", "base.hpp"),
		headerOver("device.hpp", "import.hpp"),
	}
}

// headerOver returns a header with parts that includes another header, which contains the checks.
func headerOver(holder, name string, parts ...string) emit.Asset {
	made := header(name, parts...)
	made.Known = map[string]string{holder: holder, "checked.hpp": holder, "exceptions.hpp": holder}
	return made
}

// header returns a header with parts.
func header(name string, parts ...string) emit.Asset {
	return emit.Asset{From: "torch/" + name, To: folder + name, Guards: true, Parts: emit.Copies("torch", "", parts...)}
}
