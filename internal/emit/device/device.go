// Package device implements the targets for backends: "cuda", "rocm", "oneapi", and those that a
// config describes. It renders the files that depend on a backend's description, and copies the
// other sources of templates/device. It contains nothing about a specific driver.
package device

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The rows of the table of targets for the built-in backends.
var (
	CUDA = own("cuda",
		"NVIDIA's devices: allocate, classify, order and copy through the driver found at run time; C, Go")
	ROCm = own("rocm",
		"AMD's devices: allocate, classify, order and copy through the HIP runtime found at run time; C, Go")
	OneAPI = own("oneapi",
		"oneAPI's devices, through Level Zero in C, found at run time, or through SYCL in C++; C, Go")
)

// Shared is the row of target "device": the Go types that the packages of all backends share.
var Shared = emit.Target{
	Name: emit.SharedDevice, Doc: "types that the Go packages of all backends share; Go", Path: "backends/device",
	Oldest:  "1.2",
	Options: []emit.Option{emit.ImportOption("")},
	Manifest: func(*emit.Model) (emit.Manifest, error) {
		return emit.Manifest{Assets: []emit.Asset{
			emit.GoGuard("", emit.SharedDevice), {From: "device/shared.go", To: "doc.go"},
			{From: "device/types.go", To: "types.go"},
		}}, nil
	},
}

// own returns the target of a built-in backend.
func own(name, doc string) emit.Target {
	return row(name, doc, func(m *emit.Model) (emit.Manifest, error) {
		b, found := backend.EmbeddedFor(name, m.Release)
		made, err := manifest(m, b)
		errs := []error{err}
		for _, d := range found {
			errs = append(errs, fmt.Errorf("%s: %s", d.Pos, d.Text))
		}
		return made, errors.Join(errs...)
	})
}

// Vendor returns the target of a backend that a config describes.
func Vendor(b *backend.Backend) emit.Target {
	return row(b.Name, b.Doc, func(m *emit.Model) (emit.Manifest, error) { return manifest(m, b) })
}

func row(name, doc string, files func(*emit.Model) (emit.Manifest, error)) emit.Target {
	return emit.Target{
		Name: name, Doc: doc, Path: "backends/" + name, Oldest: "1.2", Options: []emit.Option{emit.ImportOption("")},
		Imports:  []string{emit.SharedDevice},
		Manifest: files,
	}
}

// manifest lists the files of a backend.
func manifest(m *emit.Model, b *backend.Backend) (emit.Manifest, error) {
	all := []emit.Asset{emit.GoGuard("", b.Name)}
	goWords := words(b, emit.GoPrefix(cmp.Or(m.ImportPath(), b.Name))+b.Name)
	for _, a := range sources(m.Release, b) {
		if path.Ext(a.To) == ".go" {
			a.Words = goWords
		}
		all = append(all, a)
	}
	all = append(all, emit.DeviceTypes(m, b.Name))
	return emit.Manifest{Assets: all}, check(m.Release, b)
}

// The placeholders for the backend in the sources.
const (
	templatePackage = "device"
	templateEntry   = "dlpackgen_device_entry"
	templateHeader  = "dlpackgen_device_name.h"
	templateTitle   = "a device"
	templateWord    = "dlpackgen_device_word"
)

// words replace the placeholders in the Go package. entry is the package's C symbol.
func words(b *backend.Backend, entry string) emit.Words {
	return emit.Words{
		templateWord, b.Name,
		"package " + templatePackage + "\n", "package " + b.Name + "\n",
		"Package " + templatePackage + " ", "Package " + b.Name + " ",
		templateEntry, entry,
		templateHeader, "dlpackgen_" + b.Name + ".h",
		"DLPACKGEN_DEVICE_NAME_ENTRY", "DLPACKGEN_" + strings.ToUpper(b.Name) + "_ENTRY",
		templateTitle, b.Title,
	}
}

// check reports entities that the sources use by name and a user's spec lacks.
func check(r *spec.Release, b *backend.Backend) error {
	lacking := emit.Lacking(r)
	for _, d := range b.Devices {
		lacking = append(lacking, emit.LackingValues(r, "DLDeviceType", d.Type)...)
	}
	if b.Streams.Table != "" && streamTable(r, b) == nil {
		lacking = append(lacking, "the stream table "+b.Streams.Table)
	}
	return emit.Needs(r, fmt.Sprintf("the backend %s builds on", b.Name), lacking...)
}
