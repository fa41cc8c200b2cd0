// Package device makes the targets of the back ends for devices: "cuda", and those
// that a config describes. It renders what a back end's description decides, and
// copies the sources of templates/device that work with it; it knows no driver
// itself.
package device

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// The rows of the table of targets for the devices that dlpackgen knows itself.
var (
	CUDA   = own("cuda", "NVIDIA's devices: allocate, classify, order and copy through the driver found at run time; C, Go")
	ROCm   = own("rocm", "AMD's devices: allocate, classify, order and copy through the HIP runtime found at run time; C, Go")
	OneAPI = own("oneapi", "oneAPI's devices, through Level Zero in C, found at run time, or through SYCL in C++; C, Go")
)

// own is the target of a back end that this program carries.
func own(name, doc string) emit.Target {
	return row(name, doc, func() *backend.Backend { return backend.Embedded(name) })
}

// Vendor is the target of a back end that a config describes.
func Vendor(b *backend.Backend) emit.Target {
	return row(b.Name, b.Doc, func() *backend.Backend { return b })
}

func row(name, doc string, describe func() *backend.Backend) emit.Target {
	return emit.Target{
		Name: name, Doc: doc, Path: "backends/" + name, Oldest: "1.2", Options: []emit.Option{golang.ImportOption},
		Emit: func(m *emit.Model) ([]emit.File, error) { return Render(m, describe()) },
	}
}

// layouts are the templates by file name. A template that does not parse is a
// mistake in this repository, so every command would stop at once.
var layouts = template.Must(template.ParseFS(templates.Device, "device/*.tmpl"))

// Render makes every file of a back end, in the order of their names.
func Render(m *emit.Model, b *backend.Backend) ([]emit.File, error) {
	if err := check(m.Release, b); err != nil {
		return nil, err
	}
	files, err := c.Beside(m.Release, "dlpack.h", "dlpack_codes.h", "dlpack_util.h")
	if err != nil {
		return nil, err
	}
	files = append(files, golang.VersionGuard("", b.Name, m.Release.Version))
	entries, err := fs.ReadDir(templates.Device, "device")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !serves(name, b.Runtime) {
			continue
		}
		text, err := fill(m, b, name)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: outputName(name, b), Data: text, Once: slices.Contains(starters, name)})
	}
	return files, nil
}

// starters are the sources whose copies belong to the vendor once they are created.
var starters = []string{"vendor_impl.c", "vendor_hooks.h"}

// families are the sources of each runtime, by how their names begin.
var families = map[string][]string{"streams": {"streams", "contexts", "numbers"}, "ordinals": {"streams", "ordinals", "numbers"}, "levelzero": {"levelzero", "sycl", "usm"}, backend.Vendor: {"vendor", "numbers"}}

// serves tells whether a source is for every back end or for those of a runtime.
func serves(name, runtime string) bool {
	family := name[:strings.IndexAny(name, "_.")]
	for _, theirs := range families {
		if slices.Contains(theirs, family) {
			return slices.Contains(families[runtime], family)
		}
	}
	return true
}

// outputName gives the name of a source beside its back end's others.
func outputName(name string, b *backend.Backend) string {
	switch name {
	case "entry.h.tmpl":
		return "dlpackgen_" + b.Name + ".h"
	case "driver.h.tmpl":
		return "device_driver.h"
	case "contexts_current.h", "ordinals_current.h":
		return "streams_current.h"
	case families[b.Runtime][0] + ".c":
		return "dlpackgen_" + b.Name + ".c"
	case "sycl.cpp":
		return "dlpackgen_" + b.Name + "_sycl.cpp"
	case "usm.h":
		return "dlpackgen_usm.h"
	case "device.go":
		return b.Name + ".go"
	case "vendor_impl.c":
		return b.Name + "_impl.c"
	case "vendor_hooks.h":
		return "conformance/" + b.Name + "_hooks.h"
	}
	if strings.HasPrefix(name, "conformance") { // a program, which is no part of a package in Go
		name = "conformance/" + name
	}
	return strings.TrimSuffix(name, ".tmpl")
}

// fill renders a template, or takes an ordinary source as it is, with the banner.
func fill(m *emit.Model, b *backend.Backend, name string) ([]byte, error) {
	var out bytes.Buffer
	if path.Ext(name) == ".go" {
		source, err := fs.ReadFile(templates.Device, "device/"+name)
		if err != nil {
			return nil, err
		}
		return goSource(m, b, name, string(source))
	}
	if slices.Contains(starters, name) { // no banner: the file becomes the vendor's
		out.WriteString(emit.StarterLine(name))
	} else {
		out.WriteString(emit.Banner(strings.TrimSuffix(name, ".tmpl"), m.Release.Version))
	}
	if path.Ext(name) == ".tmpl" {
		err := layouts.ExecuteTemplate(&out, name, viewOf(m.Release, b))
		return out.Bytes(), err
	}
	source, err := fs.ReadFile(templates.Device, "device/"+name)
	out.Write(golang.WithMinimum(source))
	return out.Bytes(), err
}

// check reports what a spec of one's own lacks of what the sources know by name.
func check(r *spec.Release, b *backend.Backend) error {
	lacking := emit.Lacking(r)
	for _, d := range b.Devices {
		lacking = append(lacking, emit.LackingValues(r, "DLDeviceType", d.Type)...)
	}
	var errs []error
	for _, what := range lacking {
		errs = append(errs, fmt.Errorf("the back end %s builds on %s, which DLPack %s of this spec lacks", b.Name, what, r.Version))
	}
	if b.Streams.Table != "" && streamTable(r, b) == nil {
		errs = append(errs, fmt.Errorf("the back end %s builds on the stream table %s, which DLPack %s of this spec lacks",
			b.Name, b.Streams.Table, r.Version))
	}
	return errors.Join(errs...)
}
