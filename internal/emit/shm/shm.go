// Package shm implements target "shm": host tensors that processes share, with the interface of
// backends.
package shm

import (
	"cmp"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:     "shm",
	Doc:      "host tensors that are shared with other processes on Linux, through memfd and a Unix socket; C, Go, Python",
	Path:     "backends/shm",
	Oldest:   "1.2",
	Options:  []emit.Option{emit.ImportOption("")},
	Imports:  []string{emit.SharedDevice},
	Manifest: manifest,
}

// templateEntry is the placeholder in templates/shm/shm.go for the C symbol of the package.
const templateEntry = "dlpackgen_shm_entry"

func manifest(m *emit.Model) (emit.Manifest, error) {
	all := append(header.Beside(m.Release, "", header.DLPack), emit.GoGuard("", "shm"))
	all = append(all, emit.Copies("device", "", interfaces...)...)
	all = append(all, emit.Copies("shm", "", sources...)...)
	all = append(all, emit.DeviceTypes(m, "shm"),
		emit.Asset{From: "shm/implementation.c", To: "dlpackgen_shm.c", Parts: parts(m.Release)})
	return emit.Manifest{
		Words:  emit.Words{templateEntry, emit.GoPrefix(cmp.Or(m.ImportPath(), "shm")) + "shm"},
		Assets: all,
	}, emit.Needs(m.Release, "target shm builds on", emit.Lacking(m.Release)...)
}

// interfaces are the interfaces of every backend for C, C++ and Go.
var interfaces = []string{"device_answer.h", "dlpackgen_backend.h", "dlpackgen_backend.hpp"}

var sources = []string{
	"doc.go", "dlpackgen_shm.h", "off.go", "shm.go", "send_flags.go", "python/dlpackgen_shm_module.c",
}

// parts are the files that only dlpackgen_shm.c includes.
func parts(r *spec.Release) []emit.Asset {
	return slices.Concat(header.Inside(r),
		emit.Copies("device", "", "device_error.h", "device_allocation.h", "device_tensor.h", "device_texts.h",
			"device_warnings.h"),
		[]emit.Asset{{From: "shm/driver.h", To: "device_driver.h"}},
		emit.Copies("shm", "", "shm_block.h", "shm_header.h", "shm_host.h", "shm_memory.h", "shm_receive.h",
			"shm_send.h"))
}
