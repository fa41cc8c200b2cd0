package lint

import (
	"fmt"
	"go/ast"
	"go/types"
)

// ownReplacements finds tests that replace the first occurrence of a text, or all of a text that
// they look for before. mutant.Once and OnceIn require that the text occurs once: a test whose text
// is missing tests nothing, and a second occurrence may be the wrong one.
func ownReplacements(tree []File) (found []string) {
	for _, f := range written(tree, true) {
		if !f.isTest() && !f.within("tests", "bench", "internal/testkit") {
			continue
		}
		for _, decl := range f.Go.Decls {
			checked := textsOf(decl, checks)
			for text, at := range textsOf(decl, replacements) {
				isFirst := len(at.Args) == 4 && types.ExprString(at.Args[3]) == "1"
				if isFirst || checked[text] != nil {
					found = append(found, fmt.Sprintf("%s: mutant.Once counts and replaces %s", f.at(at), text))
				}
			}
		}
	}
	return found
}

// The functions that look for a text or replace it, with the index of the argument that is the
// text.
var (
	checks = map[string]int{"strings.Count": 1, "bytes.Count": 1, "assert.Contains": 2, "require.Contains": 2}

	replacements = map[string]int{"strings.Replace": 1, "bytes.Replace": 1, "strings.ReplaceAll": 1,
		"bytes.ReplaceAll": 1}
)

// textsOf returns the texts that are passed to functions, with one of the calls for each. Calls
// with a number of occurrences have precedence.
func textsOf(n ast.Node, functions map[string]int) map[string]*ast.CallExpr {
	texts := map[string]*ast.CallExpr{}
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		at, ok := functions[types.ExprString(call.Fun)]
		if !ok || len(call.Args) <= at {
			return true
		}
		if text := types.ExprString(call.Args[at]); texts[text] == nil || len(call.Args) == 4 {
			texts[text] = call
		}
		return true
	})
	return texts
}

// ownVets finds tests that start go vet directly. testkit.Vet handles -trimpath.
func ownVets(tree []File) (found []string) {
	for _, f := range written(tree, true) {
		if !f.within("tests") {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && len(call.Args) > 1 && types.ExprString(call.Fun) == "exec.Command" &&
				types.ExprString(call.Args[0]) == `"go"` && types.ExprString(call.Args[1]) == `"vet"` {
				found = append(found, f.at(n)+": testkit.Vet runs go vet")
			}
			return true
		})
	}
	return found
}
