// Package cpp is the target "cpp": owning and borrowing tensors in C++17, header
// only. It puts words and numbers into the templates of templates/cpp, and copies
// the headers that the spec does not decide.
package cpp

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Target is the row of the table of targets. Every header works with both managed
// tensors and the exchange table, hence the oldest release.
var Target = emit.Target{
	Name:   "cpp",
	Doc:    "C++17, header only: owning and borrowed tensors, builders, views, exchange tables",
	Path:   "cpp",
	Oldest: "1.2",
	Needs:  []string{"c"},
	Emit:   render,
}

// layouts are the templates by file name. A template that does not parse is a
// mistake in this repository, so every command would stop at once.
var layouts = template.Must(template.ParseFS(templates.Cpp, "cpp/*.tmpl"))

// render gives the files by name.
func render(m *emit.Model) ([]emit.File, error) {
	if err := checkNeeds(m.Release); err != nil {
		return nil, err
	}
	var files []emit.File
	err := fs.WalkDir(templates.Cpp, "cpp", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fill(m.Release, name)
		base := strings.TrimSuffix(path.Base(name), ".tmpl")
		banner := emit.Banner(base, m.Release.Version)
		files = append(files, emit.File{Path: "dlpackgen/" + base, Data: append([]byte(banner), text...)})
		return err
	})
	return files, err
}

// fill makes the text of one header.
func fill(r *spec.Release, name string) ([]byte, error) {
	if path.Ext(name) == ".tmpl" {
		var out bytes.Buffer
		err := layouts.ExecuteTemplate(&out, path.Base(name), views[path.Base(name)](r))
		return out.Bytes(), err
	}
	text, err := fs.ReadFile(templates.Cpp, name)
	return emit.InNamespace(r, text), err
}

// views make what each template shows.
var views = map[string]func(*spec.Release) any{
	"layout.hpp.tmpl":  func(r *spec.Release) any { return viewLayout(r) },
	"release.hpp.tmpl": func(r *spec.Release) any { return viewRelease(r) },
	"storage.hpp.tmpl": func(r *spec.Release) any { return viewStorage(r) },
}

// names are those that every template puts in.
type names struct {
	Version   string
	Namespace string // v1_3
	Guard     string // V1_3
}

func namesOf(r *spec.Release) names {
	return names{r.Version, emit.Namespace(r), strings.ToUpper(emit.Namespace(r))}
}

// checkedCodes are the type codes that validate.hpp names.
var checkedCodes = []string{
	"kDLFloat8_e3m4", "kDLFloat8_e4m3", "kDLFloat8_e4m3b11fnuz", "kDLFloat8_e4m3fn", "kDLFloat8_e4m3fnuz", "kDLFloat8_e5m2",
	"kDLFloat8_e5m2fnuz", "kDLFloat8_e8m0fnu", "kDLFloat6_e2m3fn", "kDLFloat6_e3m2fn", "kDLFloat4_e2m1fn",
}

// checkNeeds reports what a spec of one's own lacks of the entities that the
// headers know by name.
func checkNeeds(r *spec.Release) error {
	var errs []error
	for _, what := range append(emit.Lacking(r), emit.LackingValues(r, codeEnum, checkedCodes...)...) {
		errs = append(errs, fmt.Errorf("the headers build on %s, which DLPack %s of this spec lacks", what, r.Version))
	}
	return errors.Join(errs...)
}
