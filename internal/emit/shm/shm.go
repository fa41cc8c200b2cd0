// Package shm is the target "shm": tensors of the host that processes share, behind
// the interface of the backends for devices.
package shm

import (
	"cmp"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:     "shm",
	Doc:      "tensors of the host handed to other processes on Linux, by memfd and a Unix socket; C, Go, Python",
	Path:     "backends/shm",
	Oldest:   "1.2",
	Options:  []emit.Option{emit.ImportOption("")},
	Imports:  []string{emit.SharedDevice},
	Manifest: manifest,
}

// templateEntry stands in templates/shm/shm.go for the C symbol of the package.
const templateEntry = "dlpackgen_shm_entry"

func manifest(m *emit.Model) (emit.Manifest, error) {
	all := append(header.Beside(m.Release, "", header.Helpers...), emit.GoGuard("", "shm"))
	all = append(all, emit.Copies("device", "", common...)...)
	all = append(all, emit.Copies("shm", "", sources...)...)
	all = append(all, emit.DeviceTypes(m, "shm"))
	return emit.Manifest{
		Words:  emit.Words{templateEntry, emit.GoPrefix(cmp.Or(m.ImportPath(), "shm")) + "shm"},
		Assets: all,
	}, emit.Needs(m.Release, "target shm builds on", emit.Lacking(m.Release)...)
}

// common are the sources that all backends have.
var common = []string{
	"device_answer.h", "device_error.h", "device_request.h", "device_tensor.h",
	"dlpackgen_backend.h", "dlpackgen_backend.hpp",
}

var sources = []string{
	"device_driver.h", "dlpackgen_shm.c", "doc.go", "dlpackgen_shm.h", "off.go", "shm.go", "shm_block.h",
	"send_flags.go", "shm_header.h", "shm_host.h", "shm_memory.h", "shm_receive.h", "shm_send.h",
	"python/dlpackgen_shm_module.c",
}
