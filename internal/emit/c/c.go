// Package c is the target "c": dlpack.h of a release, the checks of its ABI and
// the helpers in C. It puts words and numbers into the templates of
// templates/c; it knows no layout rule of its own.
package c

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"text/template"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Target is the row of the table of targets. Releases older than 1.2 get
// dlpack.h and abi_check.h alone: the helpers work on the versioned tensor and
// the exchange table, which older releases do not have in full.
var Target = emit.Target{
	Name:   "c",
	Doc:    "dlpack.h, its ABI checks and, from 1.2 on, helpers; C and C++",
	Path:   "c",
	Oldest: "0.1",
	Emit:   render,
}

// layouts are the templates by file name. A template that does not parse is a
// mistake in this repository, so every command would stop at once.
var layouts = template.Must(template.ParseFS(templates.C, "c/*.tmpl"))

// render gives the files by name.
func render(m *emit.Model) ([]emit.File, error) {
	f := &folder{version: m.Release.Version}
	f.render("abi_check.h", viewCheck(m.Release))
	f.render("dlpack.h", viewHeader(m.Release))
	if hasHelpers(m.Release) {
		f.render("dlpack_codes.h", viewCodes(m.Release))
		f.copy("dlpack_util.h")
	}
	return f.files, f.err
}

// Beside makes some of the headers for a folder of others, in which they find each
// other without a path of includes.
func Beside(r *spec.Release, names ...string) ([]emit.File, error) {
	made, err := render(&emit.Model{Release: r})
	if err != nil {
		return nil, err
	}
	var files []emit.File
	for _, name := range names {
		i := slices.IndexFunc(made, func(f emit.File) bool { return path.Base(f.Path) == name })
		if i < 0 {
			return nil, fmt.Errorf("target c makes no %s of DLPack %s", name, r.Version)
		}
		data := made[i].Data
		for _, other := range names {
			data = bytes.ReplaceAll(data, []byte("#include <dlpack/"+other+">"), []byte(`#include "`+other+`"`))
		}
		files = append(files, emit.File{Path: name, Data: data})
	}
	return files, nil
}

// The enums whose values the helpers name.
const (
	deviceEnum = "DLDeviceType"
	codeEnum   = "DLDataTypeCode"
)

// hasHelpers tells whether the release has all that the helpers use, as every
// one from 1.2 on does.
func hasHelpers(r *spec.Release) bool {
	return spec.Find[*spec.Enum](r, deviceEnum) != nil && spec.Find[*spec.Enum](r, codeEnum) != nil &&
		spec.Find[*spec.Struct](r, "DLPackExchangeAPI") != nil
}

// folder collects the files of <dlpack/...> and keeps the first error.
type folder struct {
	version string
	files   []emit.File
	err     error
}

// render fills a template with a view that was made for it.
func (f *folder) render(name string, view any) {
	var out bytes.Buffer
	err := layouts.ExecuteTemplate(&out, name+".tmpl", view)
	f.add(name, out.Bytes(), err)
}

// copy takes an ordinary source file as it is.
func (f *folder) copy(name string) {
	data, err := templates.C.ReadFile("c/" + name)
	f.add(name, data, err)
}

func (f *folder) add(name string, data []byte, err error) {
	if f.err == nil {
		f.err = err
	}
	f.files = append(f.files, emit.File{Path: "dlpack/" + name, Data: append([]byte(emit.Banner(name, f.version)), data...)})
}
