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
	templateTerm    = "ignore" // build term that keeps them out of builds and out of go mod tidy
	templatePackage = "dlpack"
	templatePrefix  = "dlp_00000000_"
	templateImport  = "dlpackgen.invalid/dlpack" // the bindings, in the packages below them
)

// headerName is target c's: two texts would drift apart.
const headerName = "dlpack.h"

// exampleName is the file with examples of the bindings.
const exampleName = "example_test.go"

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
	files = append(files, VersionGuard("", b.pkg, b.release.Version))
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
			files = append(files, emit.File{Path: below + "/" + header.Path, Data: header.Data},
				VersionGuard(below+"/", below, b.release.Version))
		case path.Base(name) == exampleName && b.path == "":
			// It imports the bindings.
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
	text = strings.Replace(text, "\npackage "+templatePackage+"_test\n", "\npackage "+b.pkg+"_test\n", 1)
	text = strings.Replace(text, "// Package "+templatePackage+" ", "// Package "+b.pkg+" ", 1)
	if name == "doc.go" {
		text = exampleCall.ReplaceAllString(text, "${1}"+b.pkg+".${2}")
	}
	return text, nil
}

// FromTemplate puts the banner before a source that cgo compiles, and replaces the
// term of templates in its build constraint.
func FromTemplate(name, version, source string) (string, error) {
	first, rest, _ := strings.Cut(source, "\n")
	line, err := replaceTerm(first)
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	return emit.Banner(name, version) + "\n" + line + rest[1:], nil
}

const directive = "//go:build "

// replaceTerm replaces the term of templates, which comes first in a build
// constraint, by the oldest Go that the sources need. What is left comes as a line
// with a blank one after it, or as "" where the term stood alone.
func replaceTerm(line string) (string, error) {
	if line == directive+templateTerm {
		return "", nil
	}
	others, found := strings.CutPrefix(line, directive+templateTerm+" && ")
	if !found {
		return "", fmt.Errorf("expected %q first, got %q", directive+templateTerm, line)
	}
	expr, err := constraint.Parse(directive + minimumGo + " && " + others)
	if err != nil {
		return "", err
	}
	return directive + expr.String() + "\n\n", nil
}
