package golang

import (
	"fmt"
	"go/build/constraint"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/templates"
)

// What stands in the templates for what only a run knows.
const (
	templateTerm    = "dlpackgen_template" // build term that keeps them out of builds
	templatePackage = "dlpack"
	templatePrefix  = "dlp_00000000_"
	templateImport  = "dlpackgen.invalid/dlpack" // the bindings, in the packages below them
)

// headerName is target c's: two texts would drift apart.
const headerName = "dlpack.h"

// exampleCall is the package in an example of its own doc. In the docs of the
// packages below, which import it under that name, it stays.
var exampleCall = regexp.MustCompile(`(\W)` + templatePackage + `\.([A-Z])`)

// copied makes the files that the spec does not decide: the run time with the
// packages below it, and the header, which is target c's. Go finds those
// packages only where the import path of the bindings is known.
func (b *binding) copied() ([]emit.File, error) {
	files, err := c.Beside(b.release, headerName)
	if err != nil {
		return nil, err
	}
	header := files[0]
	err = fs.WalkDir(templates.Go, "go", func(name string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(name, "go/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "go":
			if b.path == "" {
				return fs.SkipDir
			}
			// cgo looks for headers in the package's own folder only.
			files = append(files, emit.File{Path: below + "/" + header.Path, Data: header.Data})
		case !d.IsDir():
			file, err := b.copy(name, below)
			files = append(files, file)
			return err
		}
		return nil
	})
	return files, err
}

// copy makes one file of the run time from its template.
func (b *binding) copy(template, name string) (emit.File, error) {
	source, err := fs.ReadFile(templates.Go, template)
	if err != nil {
		return emit.File{}, err
	}
	text, err := b.put(name, string(source))
	return emit.File{Path: name, Data: []byte(text)}, err
}

// put gives a template its banner, its constraint, its package, its prefix and
// the import path of the bindings.
func (b *binding) put(name, source string) (string, error) {
	source = strings.ReplaceAll(source, templatePrefix, b.prefix)
	source = strings.ReplaceAll(source, templateImport, b.path)
	if path.Ext(name) == ".h" {
		return emit.Banner(name, b.release.Version) + "\n" + source, nil
	}
	text, err := FromTemplate(name, b.release.Version, source)
	if err != nil || path.Ext(name) == ".c" {
		return text, err
	}
	text = strings.Replace(text, "\npackage "+templatePackage+"\n", "\npackage "+b.pkg+"\n", 1)
	text = strings.Replace(text, "// Package "+templatePackage+" ", "// Package "+b.pkg+" ", 1)
	if name == "doc.go" {
		text = exampleCall.ReplaceAllString(text, "${1}"+b.pkg+".${2}")
	}
	return text, nil
}

// FromTemplate gives a source that cgo compiles its banner, and takes the term of
// templates out of its build constraint.
func FromTemplate(name, version, source string) (string, error) {
	first, rest, _ := strings.Cut(source, "\n")
	line, err := dropTerm(first)
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	return emit.Banner(name, version) + "\n" + line + rest[1:], nil
}

// dropTerm takes the term of templates, which comes first, out of a build
// constraint, and gives what is left as a line with a blank one after it.
func dropTerm(line string) (string, error) {
	const directive = "//go:build "
	others, more := strings.CutPrefix(line, directive+templateTerm+" && ")
	if !more {
		return "", nil
	}
	expr, err := constraint.Parse(directive + others)
	if err != nil {
		return "", err
	}
	return directive + expr.String() + "\n\n", nil
}
