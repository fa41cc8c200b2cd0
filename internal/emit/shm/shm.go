// Package shm is the target "shm": tensors of the host that processes share, behind
// the interface of the back ends for devices. It copies templates/shm, what it
// takes of templates/device, and the headers of target c; it renders nothing
// itself.
package shm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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

const optionImport = "import"

// Target is the row of the table of targets.
var Target = emit.Target{
	Name:   "shm",
	Doc:    "tensors of the host handed to other processes on Linux, by memfd and a Unix socket; C, Go, Python",
	Path:   "backends/shm",
	Oldest: "1.2",
	Options: []emit.Option{{
		Name: optionImport,
		Doc:  "the import path of the Go package, which keeps the C names of two copies apart; default: by the nearest go.mod",
	}},
	Emit: render,
}

// headers are those of target c, which stand beside the sources here.
var headers = []string{"dlpack.h", "dlpack_codes.h", "dlpack_util.h"}

// common is what all back ends have.
var common = []string{"device_error.h", "device_tensor.h", "dlpackgen_device.h", "dlpackgen_device.hpp"}

// What stands in templates/shm/*.go for the package.
const (
	templateOnly  = "//go:build dlpackgen_template\n\n"
	templateTerm  = "dlpackgen_template && "
	templateOff   = "(!linux || !cgo || nodevice)"
	templateEntry = "dlpackgen_shm_entry"
)

func render(m *emit.Model) ([]emit.File, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	files, err := dlpackHeaders(m)
	if err != nil {
		return nil, err
	}
	for _, name := range common {
		data, err := templates.Device.ReadFile("device/" + name)
		if err != nil {
			return nil, err
		}
		files = append(files, file(m, name, data))
	}
	err = fs.WalkDir(templates.Shm, "shm", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := templates.Shm.ReadFile(name)
		files = append(files, file(m, strings.TrimPrefix(name, "shm/"), data))
		return err
	})
	return files, err
}

// dlpackHeaders are target c's, found by each other without a path of includes.
func dlpackHeaders(m *emit.Model) ([]emit.File, error) {
	made, err := c.Target.Emit(&emit.Model{Release: m.Release})
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, f := range made {
		texts[path.Base(f.Path)] = f.Data
	}
	var files []emit.File
	for _, name := range headers {
		if texts[name] == nil {
			return nil, fmt.Errorf("target %s makes no %s", c.Target.Name, name)
		}
		data := texts[name]
		for _, other := range headers {
			data = bytes.ReplaceAll(data, []byte("#include <dlpack/"+other+">"), []byte(`#include "`+other+`"`))
		}
		files = append(files, emit.File{Path: name, Data: data})
	}
	return files, nil
}

// file puts the banner on a source, and the Go package into its place: its C symbol
// carries a prefix of the import path, since the linker knows no packages.
func file(m *emit.Model, name string, source []byte) emit.File {
	switch path.Ext(name) {
	case ".go":
		return emit.File{Path: name, Data: []byte(emit.Banner("// ", "", m.Release.Version) + "\n" + goSource(m, string(source)))}
	case ".hpp":
		return emit.File{Path: name, Data: append([]byte(emit.Banner("// ", "", m.Release.Version)), source...)}
	}
	return emit.File{Path: name, Data: append([]byte(emit.Banner("/* ", " */", m.Release.Version)), source...)}
}

func goSource(m *emit.Model, source string) string {
	where, _ := golang.ImportPath(m) // check has asked
	sum := sha256.Sum256([]byte(cmp.Or(where, "shm")))
	return strings.NewReplacer(
		templateOnly, "",
		templateTerm+templateOff, strings.Trim(templateOff, "()"), // as gofmt has it
		templateTerm, "",
		templateEntry, "dlp_"+hex.EncodeToString(sum[:4])+"_shm",
	).Replace(source)
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
