// Package python is the target "python": what extension modules in C take
// tensors of any library by, and hand them out. It renders the names that the
// spec decides and copies the rest from templates/python; it knows no rule of
// the protocol itself.
package python

import "github.com/dlpackgen/dlpackgen/internal/emit"

// Target is the row of the table of targets. The capsule that it finds exchange
// tables by came with 1.3; modules work with producers of every release.
var Target = emit.Target{
	Name:     "python",
	Doc:      "the base of extension modules for Python: tensors of any library as arguments and results; C, C++",
	Path:     "python",
	Oldest:   "1.3",
	Needs:    []string{"c"},
	Manifest: manifest,
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen_python/"

func manifest(m *emit.Model) (emit.Manifest, error) {
	if err := check(m.Release); err != nil {
		return emit.Manifest{}, err
	}
	return emit.Manifest{Assets: append(emit.Copies("python", folder, sources...),
		emit.DeviceInterface(folder),
		emit.Asset{From: "python/names.h.tmpl", To: folder + "names.h", View: viewNames(m.Release)})}, nil
}

// sources are those that the spec does not decide.
var sources = []string{
	"adopt_buffer.h", "adopt_cupy.h", "adopt_elements.h", "adopt_jax.h", "adopt_numbers.h",
	"adopt_numpy.h", "adopt_paddle.h", "adopt_tables.h", "adopt_torch.h", "adopt_torch_shim.h",
	"adopt_torch_subclass.h", "adopt_torch_words.h", "adopt_types.h", "adopted.h", "backend.h",
	"begin.h", "begin_inline.h", "call.h", "capsules.h", "check.h", "depth.h", "described.h",
	"errors.h", "exchange.c", "exchange.h", "given.h", "managed.h", "module.h",
	"object.h", "place.h", "result.h", "routes.h", "state.h", "take.h",
}
