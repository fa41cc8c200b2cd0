// Package python is the target "python": what extension modules in C take
// tensors of any library by, and hand them out. It renders the names that the
// spec decides and copies the rest from templates/python; it knows no rule of
// the protocol itself.
package python

import (
	"bytes"
	"io/fs"
	"strings"
	"text/template"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Target is the row of the table of targets. The capsule that it finds exchange
// tables by came with 1.3; modules work with producers of every release.
var Target = emit.Target{
	Name:   "python",
	Doc:    "the base of extension modules for Python: tensors of any library as arguments and results; C, C++",
	Path:   "python",
	Oldest: "1.3",
	Needs:  []string{"c"},
	Emit:   render,
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen_python/"

// layouts are the templates by file name. A template that does not parse is a
// mistake in this repository, so every command would stop at once.
var layouts = template.Must(template.ParseFS(templates.Python, "python/*.tmpl"))

// render gives the files: those that the spec decides from their templates, the
// others as they are.
func render(m *emit.Model) ([]emit.File, error) {
	if err := check(m.Release); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(templates.Python, "python")
	if err != nil {
		return nil, err
	}
	device, err := emit.DeviceInterface(m, folder)
	if err != nil {
		return nil, err
	}
	files := []emit.File{device}
	for _, entry := range entries {
		data, err := text(m.Release, entry.Name())
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(entry.Name(), ".tmpl")
		banner := emit.Banner(name, m.Release.Version)
		files = append(files, emit.File{Path: folder + name, Data: append([]byte(banner), data...)})
	}
	return files, nil
}

// text fills a template, or takes an ordinary source file as it is.
func text(r *spec.Release, name string) ([]byte, error) {
	if !strings.HasSuffix(name, ".tmpl") {
		return fs.ReadFile(templates.Python, "python/"+name)
	}
	var out bytes.Buffer
	err := layouts.ExecuteTemplate(&out, name, viewNames(r))
	return out.Bytes(), err
}
