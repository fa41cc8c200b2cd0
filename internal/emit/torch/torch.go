// Package torch is the target "torch": the exchange table, the consumer and the
// kernels of PyTorch, which are compiled against libtorch. It copies the sources
// of templates/torch and knows no rule of the protocol itself.
package torch

import (
	"errors"

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
		Assets: append(append(kernels, emit.DeviceInterface(folder), dtypes(m.Release)),
			emit.Copies("torch", folder, sources...)...),
	}, errors.Join(emit.Needs(m.Release, "the sources for torch build on", emit.Lacking(m.Release)...), err)
}

// sources are those that neither the spec nor a config decides.
var sources = []string{
	"__init__.py", "adopted.hpp", "arguments.hpp", "base.hpp", "batched.hpp", "bits.hpp",
	"borrowed.hpp", "checked.hpp", "derivative.hpp", "described.hpp", "device.hpp", "direct.py",
	"errors.hpp", "exceptions.hpp", "gil.hpp", "held.hpp", "install.hpp", "kernel.hpp", "module.cpp",
	"object.hpp", "offered.hpp", "owned.hpp", "pool.hpp", "queries.hpp", "read.hpp",
	"registration.hpp", "self_test.hpp", "stable_module.cpp", "stable_object.hpp", "stable_take.hpp",
	"stream.hpp", "strides.hpp", "table.hpp", "take.hpp",
}
