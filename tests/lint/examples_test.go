package lint

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entries are the callable names of a package: functions by their names, methods as Type.Method.
func entries(t *testing.T, dir string) (functions, methods []string) {
	t.Helper()
	set := token.NewFileSet()
	pkg, err := build.ImportDir(dir, 0)
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range slices.Concat(pkg.GoFiles, pkg.CgoFiles) {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(set, files, "example.org/p")
	require.NoError(t, err)
	for _, f := range d.Funcs {
		functions = append(functions, f.Name)
	}
	for _, typ := range d.Types {
		for _, f := range typ.Funcs {
			functions = append(functions, f.Name)
		}
		for _, m := range typ.Methods {
			if token.IsExported(m.Name) && m.Level == 0 {
				methods = append(methods, typ.Name+"."+m.Name)
			}
		}
	}
	return functions, methods
}

// shown are the examples in these files whose output is checked, and the names that they call.
func shown(t *testing.T, patterns ...string) (examples, called map[string]bool) {
	t.Helper()
	examples, called = map[string]bool{}, map[string]bool{}
	var names []string
	for _, pattern := range patterns {
		more, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, more)
		names = append(names, more...)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	for _, e := range doc.Examples(files...) {
		if e.Output == "" && !e.EmptyOutput {
			continue // it is compiled, but never run
		}
		examples[e.Name] = true
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is {
				called[s.Sel.Name] = true
			}
			return true
		})
	}
	return examples, called
}

// implied are the methods that fmt and errors call.
var implied = []string{"String", "GoString", "Format", "Error", "Unwrap"}

// missing are the entries without an example: functions need their own, methods a call in any.
func missing(functions, methods []string, examples, called map[string]bool) (out []string) {
	for _, name := range functions {
		if !examples[name] {
			out = append(out, name)
		}
	}
	for _, name := range methods {
		if _, method, _ := strings.Cut(name, "."); !called[method] && !slices.Contains(implied, method) {
			out = append(out, name)
		}
	}
	return out
}

func TestEveryEntryHasAnExample(t *testing.T) {
	functions, methods := entries(t, "../../gen/go/dlpack")
	require.Greater(t, len(functions), 40)
	require.Greater(t, len(methods), 60)
	examples, called := shown(t, "../gobind/example_*_test.go", "../../gen/go/dlpack/example_test.go")
	assert.Empty(t, missing(functions, methods, examples, called))
}

func TestExamplesThatAreMissingAreFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("p.go",
		"package p\n\ntype T struct{}\n\nfunc New() T { return T{} }\nfunc (T) A() {}\nfunc (T) B() {}\nfunc F() "+
			"{}\nfunc g() {}\n")
	write("example_test.go",
		"package p_test\n\nfunc ExampleNew() {\n\tp.New().A()\n\t// Output:\n}\n\nfunc ExampleF() { p.F(); t.B() "+
			"}\n")
	functions, methods := entries(t, dir)
	examples, called := shown(t, filepath.Join(dir, "example_*.go"))
	assert.ElementsMatch(t, []string{"F", "T.B"}, missing(functions, methods, examples, called),
		"F's example has no output to check")
}
