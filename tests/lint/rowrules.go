package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// standingRows finds the rows of mutants whose text does not stand once in a source of that name,
// so that nobody has to compile all mutants to learn it.
func standingRows(tree []File) (found []string) {
	sources := map[string][]File{}
	for _, f := range tree {
		if f.within("templates", "gen", "backends", "examples", "tests") {
			base := path.Base(f.Path)
			stem, _, _ := strings.Cut(base, ".")
			sources[base], sources[stem] = append(sources[base], f), append(sources[stem], f)
		}
	}
	tables := map[string]*tables{}
	for _, f := range tree {
		if f.Go != nil && f.within("tests") {
			of(tables, path.Dir(f.Path)).declarations(f)
		}
	}
	for _, f := range tree {
		if f.Go != nil && f.within("tests") {
			found = append(found, of(tables, path.Dir(f.Path)).missing(f, sources)...)
		}
	}
	return found
}

// made are files that tests make, by the source that has their text.
var made = map[string]string{"dlpackgen_acme.c": "vendor.c", "names.h": "dlpackgen_python.h", "elements.h": "rules.h",
	"streams_current.h": "contexts_current.h", "device_driver.h": "dlpackgen_cuda.c"}

// prefix is what bindings of Go have in the place of a text's %s.
const prefix = "dlp_00000000_"

// tables is what a package says of its tables: the fields of its structs, and its constants.
type tables struct {
	fields map[string][]string
	values map[string]ast.Expr
}

func of(all map[string]*tables, dir string) *tables {
	if all[dir] == nil {
		all[dir] = &tables{map[string][]string{}, map[string]ast.Expr{}}
	}
	return all[dir]
}

// declarations collects those of a file.
func (p *tables) declarations(f File) {
	for _, decl := range f.Go.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.fields[spec.Name.Name] = p.fieldsOf(spec.Type)
			case *ast.ValueSpec:
				for i, name := range spec.Names {
					if group.Tok == token.CONST && i < len(spec.Values) {
						p.values[name.Name] = spec.Values[i]
					}
				}
			}
		}
	}
}

// fieldsOf gives the names of a struct's fields.
func (p *tables) fieldsOf(of ast.Expr) (names []string) {
	switch of := of.(type) {
	case *ast.Ident:
		return p.fields[of.Name]
	case *ast.StructType:
		for _, field := range of.Fields.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// missing tells of the rows of a file.
func (p *tables) missing(f File, sources map[string][]File) (found []string) {
	ast.Inspect(f.Go, func(n ast.Node) bool {
		if table, ok := n.(*ast.CompositeLit); ok {
			fields := p.fieldsOf(element(table.Type))
			file := max(slices.Index(fields, "file"), slices.Index(fields, "header"))
			old := slices.Index(fields, "old")
			for _, row := range table.Elts {
				if file >= 0 && old >= 0 {
					found = append(found, p.row(f, row, file, old, sources)...)
				}
			}
		}
		return true
	})
	return found
}

// element gives the type of a table's rows.
func element(of ast.Expr) ast.Expr {
	switch of := of.(type) {
	case *ast.ArrayType:
		return of.Elt
	case *ast.MapType:
		return of.Value
	}
	return nil
}

// row tells what is wrong with one.
func (p *tables) row(f File, row ast.Expr, file, old int, sources map[string][]File) []string {
	if pair, ok := row.(*ast.KeyValueExpr); ok {
		row = pair.Value
	}
	parts, ok := row.(*ast.CompositeLit)
	if !ok || len(parts.Elts) <= max(file, old) {
		return []string{f.at(row) + ": a row of mutants without a file and a text"}
	}
	name, isName := p.text(parts.Elts[file])
	text, isText := p.text(parts.Elts[old])
	if !isName || !isText {
		return []string{f.at(row) + ": a row of mutants whose file and text are no constants"}
	}
	text = strings.ReplaceAll(text, "dlp_%s_", prefix)
	candidates := append(sources[path.Base(name)], sources[made[path.Base(name)]]...)
	if slices.ContainsFunc(candidates, func(s File) bool { return stands(s, text) }) {
		return nil
	}
	return []string{fmt.Sprintf("%s: no source %s has once: %q", f.at(row), name, text)}
}

// stands tells whether a text stands once in a source.
func stands(f File, text string) bool {
	if slices.Contains([]string{".c", ".h", ".cpp", ".hpp"}, path.Ext(strings.TrimSuffix(f.Path, ".tmpl"))) {
		return mutant.Count(string(f.Data), text) == 1
	}
	return strings.Count(string(f.Data), text) == 1
}

// text gives the value of a constant.
func (p *tables) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil
	case *ast.Ident:
		value, ok := p.values[e.Name]
		if !ok {
			return "", false
		}
		return p.text(value)
	case *ast.BinaryExpr:
		left, isLeft := p.text(e.X)
		right, isRight := p.text(e.Y)
		return left + right, isLeft && isRight
	}
	return "", false
}
