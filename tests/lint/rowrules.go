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
// source, before all mutants are compiled. A row without a file belongs to the sources that the
// nearest directive above it lists: "//mutants:in PATTERN...".
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
	in := f.directives()
	ast.Inspect(f.Go, func(n ast.Node) bool {
		if n, ok := n.(*ast.CompositeLit); ok {
			found = append(found, p.table(f, n, in, sources)...)
			if keyed := valuesOf(n); keyed["Old"] != nil {
				found = append(found, p.keyed(f, keyed["File"], keyed["Old"], in, sources)...)
			}
		}
		return true
	})
	for _, d := range in {
		for i, pattern := range d.patterns {
			if !d.used[i] {
				found = append(found, fmt.Sprintf("%s: no row has a text of %s", f.at(d.comment), pattern))
			}
		}
	}
	return found
}

// rowSources is a directive that lists the sources of the rows below it.
type rowSources struct {
	comment  *ast.CommentGroup
	patterns []string
	used     []bool
}

// directives returns the directives of a file, in order.
func (f File) directives() (all []*rowSources) {
	for _, group := range f.Go.Comments {
		d := &rowSources{comment: group}
		for _, line := range group.List {
			if patterns, ok := strings.CutPrefix(line.Text, "//mutants:in "); ok {
				d.patterns = append(d.patterns, strings.Fields(patterns)...)
			}
		}
		if d.used = make([]bool, len(d.patterns)); len(d.patterns) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// above returns the nearest directive above a row.
func above(row ast.Node, in []*rowSources) *rowSources {
	at := slices.IndexFunc(in, func(d *rowSources) bool { return d.comment.Pos() > row.Pos() })
	if at < 0 {
		at = len(in)
	}
	if at == 0 {
		return nil
	}
	return in[at-1]
}

// keyed reports a row that is a Mutant. If its file is rendered from several parts, a directive
// lists them.
func (p *tables) keyed(f File, file, old ast.Expr, in []*rowSources, sources map[string][]File) []string {
	name, isName := p.text(file)
	text, isText := p.text(old)
	if isName && isText && above(old, in) == nil {
		if slices.ContainsFunc(named(name, sources), func(s File) bool { return stands(s, text) }) {
			return nil
		}
	}
	return p.listed(f, old, in, sources[everywhere])
}

// named returns the sources with the name of a file.
func named(file string, sources map[string][]File) []File {
	base := path.Base(file)
	return slices.Concat(sources[base], sources[base+".tmpl"], sources[made[base]])
}

// table reports the rows of a table whose type has a field for the text.
func (p *tables) table(f File, table *ast.CompositeLit, in []*rowSources, sources map[string][]File) (found []string) {
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
			found = append(found, p.listed(f, parts[old], in, sources[everywhere])...)
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

// listed reports a text that does not occur exactly once in the sources of a directive. Texts that
// are not constants are known only at run time.
func (p *tables) listed(f File, row ast.Expr, in []*rowSources, sources []File) []string {
	text, ok := p.text(row)
	known := func(part string) bool { return strings.Contains(text, part) }
	if !ok || slices.ContainsFunc(rendered, known) {
		return nil
	}
	d, n := above(row, in), 0
	if d == nil {
		return []string{f.at(row) + ": no directive //mutants:in lists the sources of this row"}
	}
	for i, pattern := range d.patterns {
		for _, s := range sources {
			if is, err := path.Match(pattern, s.Path); is && err == nil {
				here := occurrences(s, text)
				n, d.used[i] = n+here, d.used[i] || here > 0
			}
		}
	}
	if n == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s must contain exactly once: %q", f.at(row), strings.Join(d.patterns, " "), text)}
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
	candidates := slices.DeleteFunc(named(name, sources), func(s File) bool { return !stands(s, text) })
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
func stands(f File, text string) bool { return occurrences(f, text) == 1 }

// occurrences counts a text in a source.
func occurrences(f File, text string) int {
	for word := range strings.FieldsFuncSeq(text, isNoPart) {
		if !bytes.Contains(f.Data, []byte(word)) {
			return 0 // far cheaper than a search that ignores line breaks
		}
	}
	if slices.Contains([]string{".c", ".h", ".cpp", ".hpp"}, path.Ext(strings.TrimSuffix(f.Path, ".tmpl"))) {
		return mutant.Count(string(f.Data), text)
	}
	return strings.Count(string(f.Data), text)
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
