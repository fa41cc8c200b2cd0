package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var scriptTest = regexp.MustCompile(`(?m)^def (test_\w+)`)

// collect adds the ids of one file.
func collect(all map[string]bool, name string, text []byte) error {
	switch path.Ext(name) {
	case ".go":
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		collectGo(all, path.Dir(name), file)
	case ".py":
		for _, m := range scriptTest.FindAllSubmatch(text, -1) {
			all[name+" "+string(m[1])] = true
		}
	default:
		all[name] = true
	}
	return nil
}

func collectGo(all map[string]bool, dir string, file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && runs(f.Name.Name) {
			all[dir+" "+f.Name.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if table, ok := n.(*ast.CompositeLit); ok && len(table.Elts) > 1 {
			for _, row := range table.Elts {
				if id := rowID(row); id != "" {
					all[dir+" row "+id] = true
				}
			}
		}
		return true
	})
}

func runs(function string) bool {
	return strings.HasPrefix(function, "Test") || strings.HasPrefix(function, "Fuzz") || strings.HasPrefix(function,
		"Example")
}

// rowID returns the id of a table's row: the key of a map, or the texts of a struct that has
// several. It does not contain the table's name, so that tables may move within a package.
func rowID(row ast.Expr) string {
	switch row := row.(type) {
	case *ast.KeyValueExpr:
		if _, isRow := row.Value.(*ast.CompositeLit); isRow {
			return text(row.Key)
		}
	case *ast.CompositeLit:
		var words []string
		for _, part := range row.Elts {
			if word := text(part); word != "" {
				words = append(words, word)
			}
		}
		if len(words) > 1 {
			return strings.Join(words, " | ")
		}
	}
	return ""
}

// text returns a literal string on one line, or "".
func text(e ast.Expr) string {
	value, _ := literal(e)
	return strings.Join(strings.Fields(value), " ")
}

// literal returns a string from one literal, or from several on as many lines.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		if e.Op == token.ADD && isLeft && isRight {
			return left + right, true
		}
	}
	return "", false
}

func sorted(all map[string]bool) []string { return slices.Sorted(maps.Keys(all)) }
