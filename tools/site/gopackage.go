package main

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// packagePage contains the comment of a Go package, and each exported declaration with its comment.
func packagePage(tree fs.FS, dir string) ([]byte, error) {
	fset := token.NewFileSet()
	files, err := parsed(tree, fset, dir)
	if err != nil {
		return nil, err
	}
	of, err := doc.NewFromFiles(fset, files, "github.com/dlpackgen/dlpackgen/"+dir)
	if err != nil {
		return nil, err
	}
	w := &goPage{markdown: newPage("Package "+of.Name, "`import \""+of.ImportPath+"\"`"), fset: fset, of: of}
	w.text(of.Doc, 2)
	w.values(of.Consts)
	w.values(of.Vars)
	w.functions(of.Funcs)
	for _, t := range of.Types {
		w.declaration([]string{t.Name}, t.Decl, t.Doc)
		w.values(t.Consts)
		w.values(t.Vars)
		w.functions(t.Funcs)
		w.functions(t.Methods)
	}
	return w.bytes(), nil
}

func parsed(tree fs.FS, fset *token.FileSet, dir string) (files []*ast.File, err error) {
	names, err := fs.Glob(tree, dir+"/*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || skipped(path.Base(name)) {
			continue
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// skipped are files with alternative declarations for builds without cgo, or for older Go versions.
func skipped(name string) bool {
	return strings.HasSuffix(name, "_off.go") || name == "off.go" || name == "go_version.go" ||
		name == "unsupported.go" ||
		name == "unpooled.go"
}

// goPage is the page of a Go package under construction.
type goPage struct {
	*markdown
	fset *token.FileSet
	of   *doc.Package
}

// text writes a comment, whose headings have the given level. The site's generator assigns their
// ids.
func (w *goPage) text(docComment string, level int) {
	printer := w.of.Printer()
	printer.HeadingLevel = level
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkBaseURL = "https://pkg.go.dev"
	w.Write(printer.Markdown(w.of.Parser().Parse(docComment)))
	w.line("")
}

func (w *goPage) declaration(names []string, decl ast.Node, comment string) {
	var code bytes.Buffer
	if err := format.Node(&code, w.fset, decl); err != nil {
		return
	}
	for _, name := range names {
		w.anchor(name)
	}
	w.heading("`" + strings.Join(names[:min(len(names), 3)], ", ") + "`")
	w.code("go", code.String())
	w.text(comment, 3)
}

func (w *goPage) values(all []*doc.Value) {
	for _, v := range all {
		w.declaration(v.Names, v.Decl, v.Doc)
	}
}

func (w *goPage) functions(all []*doc.Func) {
	for _, f := range all {
		name := f.Name
		if f.Recv != "" {
			recv, _, _ := strings.Cut(strings.Trim(f.Recv, "*"), "[") // without the parameters of a type
			name = recv + "." + name
		}
		w.declaration([]string{name}, f.Decl, f.Doc)
	}
}
