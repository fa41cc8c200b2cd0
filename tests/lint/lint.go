// Package lint contains the rules for committed files, as functions from a tree to findings. The
// rules concern the form of the tree, not the behaviour of the program.
package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// File is one file of the tree. Data is nil for binary files, and Go is nil for files in other
// languages.
type File struct {
	Path string // slashes, relative to the root
	Data []byte
	Go   *ast.File
	fset *token.FileSet
}

// Rule is one rule of the project.
type Rule struct {
	Name  string
	Check func(tree []File) []string // one finding per line, "path:line: text"
}

// ignored are the folders that git ignores too, and the file .git of a worktree.
var ignored = []string{".git", ".venv", ".cache", "bin", "__pycache__"}

// Load reads every file; binary files have no data. Go source under a testdata folder is only text:
// it may be deliberately broken.
func Load(root fs.FS) ([]File, error) {
	var tree []File
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(ignored, entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular() || slices.Contains(ignored, name):
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			data = nil
		}
		f, err := parseFile(name, data)
		tree = append(tree, f)
		return err
	})
	return tree, err
}

func parseFile(name string, data []byte) (File, error) {
	f := File{Path: name, Data: data}
	if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") {
		return f, nil
	}
	var err error
	f.fset = token.NewFileSet()
	f.Go, err = parser.ParseFile(f.fset, name, data, parser.ParseComments)
	return f, err
}

// Rules returns every rule.
func Rules() []Rule {
	return []Rule{
		{"no absolute path of a machine", lines(machinePath)},
		{"no package registry by address", lines(registry)},
		{"no markers of unfinished work", lines(unfinished)},
		{"hand-written files under 500 lines", longFiles},
		{"lines have a maximum width", wideLines},
		{"no panic outside tests", panics},
		{"only main.go calls os.Exit", exits},
		{"only one file imports the YAML library", yamlImports},
		{"functions have a maximum length", longFunctions},
		{"each package has a comment", packageComments},
		{"exported names are documented", exportedDocs},
		{"each skip gives its reason", silentSkips},
		{"only certain packages write files", diskWrites},
		{"no target imports another", siblingImports},
		{"internal/config imports no target", configImports},
		{"packages import those of lower layers", upwardImports},
		{"includes have no cycle", includeCycles},
		{"targets do not read the disk", diskReads},
		{"targets do not edit text", editedTexts},
		{"no output is a part of another", separateParts},
		{"generated files state the licence of output", outputLicences},
		{"paths are valid on every system", portablePaths},
		{"no backup files", backups},
		{"no binary files", binaries},
		{"git ignores the output of examples", outputsOfExamples},
		{"texts of mutants occur once", standingRows},
		{"names in replacements exist", namesOfReplacements},
		{"commands of tutorials and how-tos are run", unrunCommands},
		{"links of pages have targets", deadLinks},
		{"tests named in pages exist", staleTests},
		{"functions named in tables exist", staleFunctions},
		{"copies of the version are up to date", staleVersions},
		{"no former terms", wrongWords},
		{"messages use is not, instead of is no", brokenMessages},
		{"templates do not compute", computingTemplates},
		{"no duplicate code", duplicates},
		{"tests replace a text by mutant.Once", ownReplacements},
		{"tests run go vet by testkit.Vet", ownVets},
		{"no test limits elapsed time", clockLimits},
	}
}

// The patterns are written so that they do not match themselves. Cargo's locks name the crate index
// in the only form that Cargo reads.
var (
	machinePath = compile(`(?:^|[\s"'=(` + "`" + `])/(?:work|farm|root|home|tmp)/`)
	registry    = compile(
		`--(?:extra-)?index-url|GOPROXY=[h]|npm_config_regis[t]ry|pypi\.(?:org|python)|pythonhosted\.|proxy\.golang\.|deb\.debian\.|registry\.npm|crates\.io(?:[^-]|$)`)
	unfinished = compile(`\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b`)
)

// lines returns a rule that no line may match an expression.
func lines(banned pattern) func([]File) []string {
	return func(tree []File) []string {
		var found []string
		for _, f := range tree {
			if !banned.mayMatch(f.Data) {
				continue
			}
			n := 0
			for line := range bytes.Lines(f.Data) {
				n++
				if m := banned.Find(line); m != nil {
					found = append(found, fmt.Sprintf("%s:%d: %q", f.Path, n, m))
				}
			}
		}
		return found
	}
}

// isTest reports whether a file contains tests. The emitted conformance tests do, although their
// names do not end in _test.go, because users import them.
func (f File) isTest() bool {
	return strings.HasSuffix(f.Path, "_test.go") || strings.HasPrefix(f.Path, "templates/go/dlpacktest/")
}

// isGenerated also covers data that is not written by hand.
func (f File) isGenerated() bool {
	first, _, _ := bytes.Cut(f.Data, []byte("\n"))
	return bytes.Contains(first, []byte("Code generated ")) || f.within("gen", "golden", "backends")
}

// within reports whether the file is in one of these folders, or below it.
func (f File) within(folders ...string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return strings.HasPrefix(f.Path, dir+"/") })
}

func (f File) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.Path, f.fset.Position(n.Pos()).Line)
}

// span counts the lines between two braces.
func (f File) span(b *ast.BlockStmt) int {
	return f.fset.Position(b.Rbrace).Line - f.fset.Position(b.Lbrace).Line - 1
}

// written returns the Go files that are written by hand, with or without the tests.
func written(tree []File, tests bool) []File {
	var kept []File
	for _, f := range tree {
		if f.Go != nil && !f.isGenerated() && (tests || !f.isTest()) {
			kept = append(kept, f)
		}
	}
	return kept
}
