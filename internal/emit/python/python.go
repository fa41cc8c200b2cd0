// Package python implements target "python": the base with which C extension modules import and
// export tensors of any library, and the module of described kernels. It renders the names that
// depend on the spec, and copies the rest from templates/python.
package python

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"slices"
)

// Target is the row of the table of targets. The capsule for exchange tables was introduced in 1.3.
// Modules work with producers of every release.
var Target = emit.Target{
	Name:      "python",
	Doc:       "the base of extension modules for Python: tensors of any library as arguments and results; C, C++",
	Path:      "python",
	Oldest:    "1.3",
	Needs:     []string{"c"},
	Options:   []emit.Option{moduleOption, testsOption},
	Contracts: true, ContractNeeds: []string{"kernels"},
	Limits:    limits,
	Manifest:  manifest,
	Interface: interfaceName,
}

// limits lists the features of a kernel that the module does not support.
func limits(k *contract.Kernel) []string {
	all := slices.Concat(emit.WithoutGradients(k), emit.WithoutDTypesOfNumPy(k), emit.OnTheCPU(k, ""))
	if emit.ElsewhereThanTheCPU(k) && emit.GivesTensors(k) {
		all = append(all,
			"on devices other than the CPU, only PyTorch and CuPy allocate results: pass out= with others")
	}
	return all
}

// The outputs: the interface, the implementation, and the header that both share with the backends.
const (
	interfaceName = "dlpackgen_python.h"
	sourceName    = "dlpackgen_python.c"
)

func manifest(m *emit.Model) (emit.Manifest, error) {
	if err := check(m.Release); err != nil {
		return emit.Manifest{}, err
	}
	module, err := moduleAssets(m)
	return emit.Manifest{Assets: append([]emit.Asset{
		emit.DeviceInterface(""),
		{From: "python/dlpackgen_python.h", To: interfaceName, Parts: public(m.Release),
			Known: map[string]string{"implementation.c": sourceName}},
		{From: "python/implementation.c", To: sourceName, Parts: private(m.Release),
			Known: map[string]string{
				"api.h": interfaceName, "readers.h": interfaceName, "names.h": interfaceName,
			}},
	}, module...)}, err
}

// public are the parts of the interface.
func public(r *spec.Release) []emit.Asset {
	return []emit.Asset{
		{From: "python/api.h", To: "api.h"},
		{From: "python/readers.h", To: "readers.h"},
		{From: "python/names.h.tmpl", To: "names.h", View: viewNames(r)},
	}
}

// Parts returns the manifest with each part as a separate file, which the two outputs include.
// Tests can change one part.
func Parts(m *emit.Model) (emit.Manifest, error) {
	const folder = "dlpackgen_python"
	all := append(public(m.Release),
		append(emit.Copies("python", "", "implementation.c"), private(m.Release)...)...)
	for i := range all {
		all[i].To = folder + "/" + all[i].To
	}
	return emit.Manifest{Assets: append(all,
		emit.DeviceInterface(""),
		emit.Asset{From: "python/dlpackgen_python.h", To: interfaceName, Words: emit.Words{
			`"api.h"`, `"` + folder + `/api.h"`, `"implementation.c"`, `"` + folder + `/implementation.c"`}},
		emit.Asset{To: sourceName, Text: []byte(`#include "` + folder + "/implementation.c\"\n")})}, check(m.Release)
}

// private are the parts of the implementation.
func private(r *spec.Release) []emit.Asset {
	return append(emit.Copies("python", "", privateParts...),
		emit.Asset{From: "python/reader_torch_dtypes.h.tmpl", To: "reader_torch_dtypes.h", View: viewNames(r)},
		emit.Asset{From: "c/copy.h", To: "copy.h"}, emit.Asset{From: "torchshim/loaded.h", To: "loaded.h"})
}

var privateParts = []string{
	"access.h", "backend.h", "begin.h", "begin_inline.h", "call.h", "capsules.h", "check.h",
	"depth.h", "described.h", "errors.h", "arrange.h", "managed.h", "module.h", "object.h",
	"reader_buffer.h", "reader_cupy.h", "reader_elements.h", "reader_jax.h", "reader_numbers.h",
	"reader_numpy.h", "reader_paddle.h", "reader_tables.h", "reader_torch.h",
	"reader_torch_fields.h", "reader_torch_shim.h", "reader_torch_subclass.h", "reader_types.h",
	"result.h", "state.h", "stream.h", "import.h",
}
