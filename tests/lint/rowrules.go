package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// standingRows finds the rows of mutants whose text does not occur exactly once in the named
// source, or in any source for a row without a file, before all mutants are compiled.
func standingRows(tree []File) (found []string) {
	sources := sourcesOf(tree)
	for f, p := range tablesOf(tree) {
		found = append(found, p.missing(f, sources)...)
	}
	return found
}

// tablesOf returns the files with tests, and the declarations of their packages.
func tablesOf(tree []File) iter.Seq2[File, *tables] {
	packages := map[string]*tables{}
	for _, f := range tree {
		if f.Go != nil && f.within("tests") {
			of(packages, path.Dir(f.Path)).declarations(f)
		}
	}
	return func(yield func(File, *tables) bool) {
		for _, f := range tree {
			if f.Go != nil && f.within("tests") && !yield(f, of(packages, path.Dir(f.Path))) {
				return
			}
		}
	}
}

// everywhere is the key for all sources except the tests themselves.
const everywhere = "/"

// sourcesOf returns the sources that mutants change, by their names with and without suffixes.
func sourcesOf(tree []File) map[string][]File {
	sources := map[string][]File{}
	for _, f := range tree {
		if !f.within("templates", "gen", "backends", "examples", "tests") {
			continue
		}
		base := path.Base(f.Path)
		stem, _, _ := strings.Cut(base, ".")
		sources[base], sources[stem] = append(sources[base], f), append(sources[stem], f)
		if f.Go == nil || !f.within("tests") {
			sources[everywhere] = append(sources[everywhere], f)
		}
	}
	return sources
}

// made are files that tests create, by the source with their text.
var made = map[string]string{"dlpackgen_acme.c": "vendor.c", "names.h": "dlpackgen_python.h", "elements.h": "rules.h",
	"kernels.c":             "kernel_checks.h",
	"reader_torch_dtypes.h": "dlpackgen_python.c", "streams_current.h": "contexts_current.h",
	"device_driver.h": "dlpackgen_cuda.c"}

// prefix replaces a text's %s in Go bindings.
const prefix = "dlp_00000000_"

// tables contains a package's declarations for its tables: the fields of its structs, and its
// constants.
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

// declarations collects the declarations of a file.
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

// fieldsOf returns the names of a struct's fields.
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

// missing reports the rows of a file.
func (p *tables) missing(f File, sources map[string][]File) (found []string) {
	ast.Inspect(f.Go, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = append(found, p.table(f, n, sources)...)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Old" {
				found = append(found, p.somewhere(f, n.Value, sources[everywhere])...)
			}
		}
		return true
	})
	return found
}

// table reports the rows of a table whose type has a field for the text.
func (p *tables) table(f File, table *ast.CompositeLit, sources map[string][]File) (found []string) {
	fields := p.fieldsOf(element(table.Type))
	file := max(slices.Index(fields, "file"), slices.Index(fields, "header"))
	old := slices.Index(fields, "old")
	if old < 0 {
		return nil
	}
	for _, row := range table.Elts {
		if file >= 0 {
			found = append(found, p.row(f, row, file, old, sources)...)
		} else if parts := partsOf(row); len(parts) > old {
			found = append(found, p.somewhere(f, parts[old], sources[everywhere])...)
		}
	}
	return found
}

// partsOf returns the values of a row.
func partsOf(row ast.Expr) []ast.Expr {
	if pair, ok := row.(*ast.KeyValueExpr); ok {
		row = pair.Value
	}
	if parts, ok := row.(*ast.CompositeLit); ok {
		return parts.Elts
	}
	return nil
}

// rendered are parts of texts that no source contains, because they include names of a test's
// description.
var rendered = []string{"rms_norm(", "passed_sites_", "passed4_", "a1_", "call_.", "call.a0", "call.r0",
	"kernel_turn(", "example.com/args/"}

// somewhere reports a text that occurs exactly once in no source. The file of such a row is known
// only at run time, and so are texts that are not constants.
func (p *tables) somewhere(f File, row ast.Expr, sources []File) []string {
	text, ok := p.text(row)
	known := func(part string) bool { return strings.Contains(text, part) }
	if !ok || slices.ContainsFunc(rendered, known) ||
		slices.ContainsFunc(sources, func(s File) bool { return stands(s, text) }) {
		return nil
	}
	return []string{fmt.Sprintf("%s: no source has once: %q", f.at(row), text)}
}

// element returns the type of a table's rows.
func element(of ast.Expr) ast.Expr {
	switch of := of.(type) {
	case *ast.ArrayType:
		return of.Elt
	case *ast.MapType:
		return of.Value
	}
	return nil
}

// row reports the mistake in a row.
func (p *tables) row(f File, row ast.Expr, file, old int, sources map[string][]File) []string {
	parts := partsOf(row)
	if len(parts) <= max(file, old) {
		return []string{f.at(row) + ": a row of mutants without a file and a text"}
	}
	name, isName := p.text(parts[file])
	text, isText := p.text(parts[old])
	if !isName || !isText {
		return []string{f.at(row) + ": a row of mutants whose file and text are not constants"}
	}
	text = strings.ReplaceAll(text, "dlp_%s_", prefix)
	candidates := append(sources[path.Base(name)], sources[made[path.Base(name)]]...)
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(s File) bool { return !stands(s, text) })
	if len(candidates) == 0 {
		return []string{fmt.Sprintf("%s: no source %s has once: %q", f.at(row), name, text)}
	}
	if len(parts) <= old+1 {
		return nil
	}
	replacement, _ := p.text(parts[old+1])
	if unknown := unknownNames(text, replacement, candidates); unknown != "" {
		return []string{fmt.Sprintf("%s: %s does not have the name %s of the replacement", f.at(row), name, unknown)}
	}
	return nil
}

// unknownNames returns the variables of a mutant's replacement that none of the sources has. A
// renamed variable leaves them behind, and the mutant does not compile. Only plain words count:
// others are mostly names of other files.
func unknownNames(old, replacement string, sources []File) string {
	var unknown []string
	code := notCode.ReplaceAllString(replacement, " ")
	known := slices.Clone(keywords)
	for _, at := range anyName.FindAllStringIndex(code, -1) {
		word, before, after := code[at[0]:at[1]], strings.TrimRight(code[:at[0]], " *"), code[at[1]:]
		isMember := memberOf.MatchString(before)
		isDeclared := declares.MatchString(before) || strings.HasPrefix(after, ": ")
		whole := regexp.MustCompile(`\b` + word + `\b`)
		isKnown := func(s File) bool { return whole.Match(s.Data) }
		if isDeclared || strings.Contains(old, word) || slices.ContainsFunc(sources, isKnown) {
			known = append(known, word)
		}
		if oneWord.MatchString(word) && !isMember && !strings.HasPrefix(after, "(") && !slices.Contains(known, word) {
			unknown = append(unknown, word)
		}
	}
	return strings.Join(unknown, ", ")
}

var (
	anyName  = regexp.MustCompile(`\b[A-Za-z_]\w*`)
	memberOf = regexp.MustCompile(`(?:\.|->|::)$`)
	oneWord  = regexp.MustCompile(`^[a-z]+_?$`)
	declares = regexp.MustCompile(`\b(?:int|long|\w+_t|auto|def)$`)
	notCode  = regexp.MustCompile(`"[^"]*"|'[^']*'|//.*|/\*.*?\*/|\{\{.*?\}\}`)
)

// keywords are the words of languages in replacements, and the names of their types.
var keywords = []string{"bool", "break", "char", "const", "false", "int", "long", "new", "pass", "return", "true",
	"virtual", "void"}

// stands reports whether a text occurs exactly once in a source.
func stands(f File, text string) bool {
	for word := range strings.FieldsFuncSeq(text, isNoPart) {
		if !bytes.Contains(f.Data, []byte(word)) {
			return false // far cheaper than a search that ignores line breaks
		}
	}
	if slices.Contains([]string{".c", ".h", ".cpp", ".hpp"}, path.Ext(strings.TrimSuffix(f.Path, ".tmpl"))) {
		return mutant.Count(string(f.Data), text) == 1
	}
	return strings.Count(string(f.Data), text) == 1
}

// text returns the value of a constant.
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
