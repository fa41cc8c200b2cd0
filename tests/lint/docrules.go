package lint

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// packageComments requires one comment per package, outside of test files unless the package has
// only tests.
func packageComments(tree []File) []string {
	printed, first := map[string]bool{}, map[string]File{}
	var order []string
	for _, f := range written(tree, true) {
		if f.within("templates") && f.Go.Name.Name != "templates" {
			continue // the emitted package's comment is in its only rendered file
		}
		name := f.Go.Name.Name
		key := path.Dir(f.Path) + " " + strings.TrimSuffix(name, "_test")
		if _, seen := first[key]; !seen {
			first[key] = f
			order = append(order, key)
		}
		printed[key] = printed[key] || saysWhatItIs(f)
	}
	var found []string
	for _, key := range order {
		if !printed[key] {
			found = append(found,
				fmt.Sprintf("%s:1: package %s has no comment", first[key].Path, first[key].Go.Name.Name))
		}
	}
	return found
}

func saysWhatItIs(f File) bool {
	doc := f.Go.Doc.Text()
	return strings.HasPrefix(doc,
		"Package "+f.Go.Name.Name+" ") || f.Go.Name.Name == "main" && strings.HasPrefix(doc, "Command ")
}

func exportedDocs(tree []File) []string {
	var found []string
	for _, f := range written(tree, false) {
		if f.Go.Name.Name == "main" {
			continue
		}
		for _, decl := range f.Go.Decls {
			for _, name := range undocumented(decl) {
				found = append(found, fmt.Sprintf("%s: %s", f.at(name), name.Name))
			}
		}
	}
	return found
}

func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && receiverExported(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc == nil {
			return undocumentedSpecs(d)
		}
	}
	return nil
}

func undocumentedSpecs(d *ast.GenDecl) []*ast.Ident {
	var out []*ast.Ident
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				out = append(out, s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if s.Doc == nil && s.Comment == nil && name.IsExported() {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// receiverExported reports whether a method can be called from outside.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	base := d.Recv.List[0].Type
	if star, ok := base.(*ast.StarExpr); ok {
		base = star.X
	}
	if generic, ok := base.(*ast.IndexExpr); ok {
		base = generic.X
	}
	name, ok := base.(*ast.Ident)
	return !ok || name.IsExported()
}
