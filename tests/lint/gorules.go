package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The limits on length. Tests and data may be longer.
const (
	maxFile     = 500
	maxFunc     = 45
	maxTestFunc = 80
)

var handWritten = []string{".go", ".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".tmpl", ".py", ".sh"}

func longFiles(tree []File) []string {
	var found []string
	for _, f := range tree {
		n := bytes.Count(f.Data, []byte("\n"))
		if n >= maxFile && slices.Contains(handWritten, path.Ext(f.Path)) && !f.isGenerated() && !f.isTest() {
			found = append(found, fmt.Sprintf("%s:1: %d lines", f.Path, n))
		}
	}
	return found
}

func longFunctions(tree []File) []string {
	var found []string
	for _, f := range written(tree, true) {
		limit := maxFunc
		if f.isTest() {
			limit = maxTestFunc
		}
		for _, decl := range f.Go.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Body != nil && f.span(fn.Body) > limit {
				found = append(found,
					fmt.Sprintf("%s: %s has %d lines, the limit is %d", f.at(fn), fn.Name.Name, f.span(fn.Body),
						limit))
			}
		}
	}
	return found
}

// calls finds the selected calls, by name: "panic", "os.Exit", "t.Skip".
func calls(files []File, want func(f File, name string, call *ast.CallExpr) bool) []string {
	var found []string
	for _, f := range files {
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && want(f, callee(call), call) {
				found = append(found, fmt.Sprintf("%s: %s", f.at(call), callee(call)))
			}
			return true
		})
	}
	return found
}

func callee(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		if x, ok := fn.X.(*ast.Ident); ok {
			return x.Name + "." + fn.Sel.Name
		}
	}
	return ""
}

func panics(tree []File) []string {
	return calls(written(tree, false), func(_ File, name string, call *ast.CallExpr) bool {
		return name == "panic" && !saysUnreachable(call) || strings.HasPrefix(name, "log.Panic")
	})
}

// saysUnreachable reports whether a panic states that it guards an unreachable state, the only
// permitted use.
func saysUnreachable(call *ast.CallExpr) bool {
	printed := false
	ast.Inspect(call, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		printed = printed || ok && strings.Contains(lit.Value, "unreachable: ")
		return true
	})
	return printed
}

func exits(tree []File) []string {
	return calls(written(tree, true), func(f File, name string, _ *ast.CallExpr) bool {
		isMain := f.Go.Name.Name == "main" && path.Base(f.Path) == "main.go"
		return (name == "os.Exit" || strings.HasPrefix(name, "log.Fatal")) && !isMain && !isTestMain(f)
	})
}

// isTestMain permits a test binary that replaces the command.
func isTestMain(f File) bool {
	return f.isTest() && slices.ContainsFunc(f.Go.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Name.Name == "TestMain"
	})
}

func silentSkips(tree []File) []string {
	return calls(written(tree, true), func(_ File, name string, call *ast.CallExpr) bool {
		_, method, _ := strings.Cut(name, ".")
		return method == "SkipNow" || (method == "Skip" || method == "Skipf") && len(call.Args) == 0
	})
}

// imports finds the files with the selected imports.
func imports(files []File, want func(f File, name string) bool) []string {
	var found []string
	for _, f := range files {
		for _, spec := range f.Go.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil && want(f, name) {
				found = append(found, fmt.Sprintf("%s: imports %s", f.at(spec), name))
			}
		}
	}
	return found
}

var yamlLibrary = regexp.MustCompile(`^(?:gopkg\.in/yaml\.|go\.yaml\.in/|github\.com/goccy/go-yaml)`)

func yamlImports(tree []File) []string {
	found := imports(written(tree, true), func(_ File, name string) bool { return yamlLibrary.MatchString(name) })
	if len(found) <= 1 {
		return nil
	}
	return found
}

// writers are the packages that may write files: the writer of outputs, the one that runs compilers
// in a temporary folder, the goldens, the builds of tests and the list of what they open, and the
// command for files that are not outputs (a first config, a picture).
var writers = []string{"internal/tree", "internal/verify", "internal/golden", "internal/mutant", "internal/testtool",
	"internal/testkit", "internal/tier", "cmd/dlpackgen"}

var writes = regexp.MustCompile(
	`^os\.(?:Create|CreateTemp|OpenFile|WriteFile|Rename|Remove|RemoveAll|Mkdir|MkdirAll|MkdirTemp|Chmod|Truncate|Symlink|Link)$`)

func diskWrites(tree []File) []string {
	return calls(written(tree, false), func(f File, name string, _ *ast.CallExpr) bool {
		return writes.MatchString(name) && f.within("internal", "cmd") && !f.within(writers...)
	})
}

// outputLicences requires the licence of LICENSE-OUTPUT in the second line of every generated file.
func outputLicences(tree []File) []string {
	var found []string
	for _, f := range tree {
		lines := strings.SplitN(string(f.Data), "\n", 3)
		banner := strings.Contains(lines[0], "Code generated by dlpackgen; DO NOT EDIT.")
		if banner && (len(lines) < 2 || !strings.Contains(lines[1], outputLicence)) {
			found = append(found, f.Path+":2: the second line does not say "+outputLicence)
		}
	}
	return found
}

const outputLicence = "SPDX-License-Identifier: 0BSD"
