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

// exampleCall is the package in an example of its own doc. In the docs of the
// packages below, which import it under that name, it stays.
var exampleCall = regexp.MustCompile(`(\W)` + templatePackage + `\.([A-Z])`)

// copied makes the files that the spec does not decide: the run time with the
// packages below it, and the header, which is target c's. Go finds those
// packages only where the import path of the bindings is known.
func (b *binding) copied() ([]emit.File, error) {
	header, err := b.header()
	if err != nil {
		return nil, err
	}
	files := []emit.File{header}
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

// header is dlpack.h as target c makes it: two texts would drift apart.
func (b *binding) header() (emit.File, error) {
	files, err := c.Target.Emit(&emit.Model{Release: b.release})
	if err != nil {
		return emit.File{}, err
	}
	for _, f := range files {
		if path.Base(f.Path) == "dlpack.h" {
			return emit.File{Path: "dlpack.h", Data: f.Data}, nil
		}
	}
	return emit.File{}, fmt.Errorf("target %s makes no dlpack.h", c.Target.Name)
}

// put gives a template its banner, its constraint, its package, its prefix and
// the import path of the bindings.
func (b *binding) put(name, source string) (string, error) {
	source = strings.ReplaceAll(source, templatePrefix, b.prefix)
	source = strings.ReplaceAll(source, templateImport, b.path)
	banner := emit.Banner("/* ", " */", b.release.Version)
	if path.Ext(name) == ".h" {
		return banner + "\n" + source, nil
	}
	first, rest, _ := strings.Cut(source, "\n")
	line, err := dropTerm(first)
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	if path.Ext(name) == ".c" {
		return banner + "\n" + line + rest[1:], nil
	}
	rest = strings.Replace(rest, "\npackage "+templatePackage+"\n", "\npackage "+b.pkg+"\n", 1)
	rest = strings.Replace(rest, "// Package "+templatePackage+" ", "// Package "+b.pkg+" ", 1)
	if name == "doc.go" {
		rest = exampleCall.ReplaceAllString(rest, "${1}"+b.pkg+".${2}")
	}
	return b.head(line) + rest[1:], nil
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
