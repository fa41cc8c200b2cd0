package lint

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// namesOfReplacements finds replacements of mutants with a name that no source has. After a name
// was changed, such a mutant does not compile, or it fails for another reason than the mistake.
func namesOfReplacements(tree []File) (found []string) {
	known := namesOf(sourcesOf(tree)[everywhere])
	for f, p := range tablesOf(tree) {
		for _, m := range p.replacements(f) {
			if unknown := m.unknown(known); len(unknown) > 0 {
				found = append(found, fmt.Sprintf("%s: no source has the name %s of the replacement", f.at(m.row),
					strings.Join(unknown, ", ")))
			}
		}
	}
	return found
}

// namesOf returns all words of sources.
func namesOf(sources []File) map[string]bool {
	names := map[string]bool{}
	for _, f := range sources {
		for word := range strings.FieldsFuncSeq(string(f.Data), isNoPart) {
			names[word] = true
		}
	}
	return names
}

// isNoPart reports whether a character belongs to no word.
func isNoPart(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// replacement is the change of a mutant.
type replacement struct {
	row      ast.Expr
	old, new string
}

// replacements returns the mutants of a file whose texts are constants.
func (p *tables) replacements(f File) (all []replacement) {
	add := func(old, new ast.Expr) {
		was, isOld := p.text(old)
		is, isNew := p.text(new)
		if isOld && isNew {
			all = append(all, replacement{new, was, is})
		}
	}
	ast.Inspect(f.Go, func(n ast.Node) bool {
		table, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		keyed := valuesOf(table)
		if keyed["Old"] != nil && keyed["New"] != nil {
			add(keyed["Old"], keyed["New"])
		}
		at, rows := slices.Index(p.fieldsOf(element(table.Type)), "old"), table.Elts
		if table.Type != nil && types.ExprString(table.Type) == "map[string][2]string" {
			at = 0
		}
		for _, row := range rows {
			if parts := partsOf(row); at >= 0 && len(parts) > at+1 {
				add(parts[at], parts[at+1])
			}
		}
		return true
	})
	return all
}

// valuesOf returns the values of a literal by their fields.
func valuesOf(literal *ast.CompositeLit) map[string]ast.Expr {
	values := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				values[key.Name] = pair.Value
			}
		}
	}
	return values
}

// namesOfHosts are names of libraries that only replacements contain.
var namesOfHosts = []string{"PyGILState_UNLOCKED", "doNotOptimizeAway"}

// unknown returns the names of a replacement that neither the sources nor its text have, and that
// it does not declare.
func (m replacement) unknown(known map[string]bool) (names []string) {
	if slices.ContainsFunc(rendered, func(part string) bool { return strings.Contains(m.old, part) }) {
		return nil
	}
	code := notCode.ReplaceAllString(m.new, " ")
	words := anyName.FindAllStringIndex(code, -1)
	skipped := slices.Clone(namesOfHosts)
	for _, at := range words {
		if declares.MatchString(strings.TrimRight(code[:at[0]], " *")) {
			skipped = append(skipped, code[at[0]:at[1]])
		}
	}
	for _, at := range words {
		word := code[at[0]:at[1]]
		if !known[word] && !strings.Contains(m.old, word) && !slices.Contains(skipped, word) {
			names = append(names, word)
		}
	}
	return slices.Compact(names)
}
