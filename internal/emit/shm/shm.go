// Package shm is the target "shm": tensors of the host that processes share, behind
// the interface of the back ends for devices. It copies templates/shm, what it
// takes of templates/device, and the headers of target c; it renders nothing
// itself.
package shm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:    "shm",
	Doc:     "tensors of the host handed to other processes on Linux, by memfd and a Unix socket; C, Go, Python",
	Path:    "backends/shm",
	Oldest:  "1.2",
	Options: []emit.Option{golang.ImportOption},
	Emit:    render,
}

// headers are those of target c, which stand beside the sources here.
var headers = []string{"dlpack.h", "dlpack_codes.h", "dlpack_util.h"}

// common is what all back ends have.
var common = []string{"device_answer.h", "device_error.h", "device_request.h", "device_tensor.h", "dlpackgen_device.h", "dlpackgen_device.hpp"}

// templateEntry stands in templates/shm/shm.go for the C symbol of the package.
const templateEntry = "dlpackgen_shm_entry"

func render(m *emit.Model) ([]emit.File, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	files, err := c.Beside(m.Release, headers...)
	if err != nil {
		return nil, err
	}
	files = append(files, golang.VersionGuard("", "shm", m.Release.Version))
	for _, name := range common {
		data, err := templates.Device.ReadFile("device/" + name)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: name, Data: append([]byte(emit.Banner(name, m.Release.Version)), data...)})
	}
	err = fs.WalkDir(templates.Shm, "shm", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		made, err := file(m, name)
		files = append(files, made)
		return err
	})
	return files, err
}

// file puts the banner on a source, and the Go package into its place.
func file(m *emit.Model, template string) (emit.File, error) {
	source, err := templates.Shm.ReadFile(template)
	name := strings.TrimPrefix(template, "shm/")
	if path.Ext(name) != ".go" {
		return emit.File{Path: name, Data: append([]byte(emit.Banner(name, m.Release.Version)), golang.WithMinimum(source)...)}, err
	}
	text, fault := goSource(m, name, string(source))
	return emit.File{Path: name, Data: []byte(text)}, errors.Join(err, fault)
}

// goSource gives the C symbol of the package a prefix of the import path.
func goSource(m *emit.Model, name, source string) (string, error) {
	where, _ := golang.ImportPath(m) // check has asked
	text, err := golang.FromTemplate(name, m.Release.Version, source)
	return strings.ReplaceAll(text, templateEntry, golang.Prefix(cmp.Or(where, "shm"))+"shm"), err
}

// check reports what a spec of one's own lacks of what the sources know by name.
func check(m *emit.Model) error {
	_, err := golang.ImportPath(m)
	errs := []error{err}
	for _, what := range emit.Lacking(m.Release) {
		errs = append(errs, fmt.Errorf("target shm builds on %s, which DLPack %s of this spec lacks", what, m.Release.Version))
	}
	return errors.Join(errs...)
}
