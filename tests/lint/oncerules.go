package lint

import (
	"fmt"
	"go/ast"
	"go/types"
)

// ownReplacements finds test functions that count a text and then replace it. mutant.Once and
// OnceIn do both, with one message.
func ownReplacements(tree []File) (found []string) {
	for _, f := range written(tree, true) {
		if !f.isTest() && !f.within("tests", "bench", "internal/testkit") {
			continue
		}
		for _, decl := range f.Go.Decls {
			counted := textsOf(decl, "Count")
			for text, at := range textsOf(decl, "Replace", "ReplaceAll") {
				if counted[text] != nil {
					found = append(found, fmt.Sprintf("%s: mutant.Once counts and replaces %s", f.at(at), text))
				}
			}
		}
	}
	return found
}

// textsOf returns the second arguments of calls of functions of strings or bytes.
func textsOf(n ast.Node, functions ...string) map[string]ast.Node {
	texts := map[string]ast.Node{}
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		for _, name := range functions {
			if called := types.ExprString(call.Fun); called == "strings."+name || called == "bytes."+name {
				texts[types.ExprString(call.Args[1])] = call
			}
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
