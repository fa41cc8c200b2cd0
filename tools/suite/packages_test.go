package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestATierRunsThoseBeforeIt(t *testing.T) {
	all := []tier.Package{{Path: "q", Tier: tier.Quick, Cost: 2}, {Path: "t", Tier: tier.Test, Cost: 3},
		{Path: "n", Tier: tier.Nightly, Cost: 1}}
	assert.Equal(t, []string{"./q"}, packages(all, tier.Quick))
	assert.Equal(t, []string{"./t", "./q"}, packages(all, tier.Test), "the longest first")
	assert.Equal(t, []string{"./t", "./q", "./n"}, packages(all, tier.Nightly))
}

func rows(t *testing.T) []tier.Package {
	t.Helper()
	all, err := tier.Packages()
	require.NoError(t, err)
	return all
}

// packaged is the go command's information about a package.
type packaged struct {
	ImportPath                          string
	CgoFiles, TestGoFiles, XTestGoFiles []string
}

// listed returns the module's packages. The go command takes half a second for them.
var listed = func() func(t *testing.T) []packaged {
	list := sync.OnceValues(func() (all []packaged, err error) {
		cmd := exec.Command("go", "list", "-json=ImportPath,CgoFiles,TestGoFiles,XTestGoFiles", "./...")
		cmd.Dir = "../.."
		out, err := cmd.Output()
		for from := json.NewDecoder(bytes.NewReader(out)); err == nil && from.More(); {
			var p packaged
			err = from.Decode(&p)
			all = append(all, p)
		}
		return all, err
	})
	return func(t *testing.T) []packaged {
		t.Helper()
		all, err := list()
		require.NoError(t, err)
		return all
	}
}()

// withTests lists the module's packages that have tests.
func withTests(t *testing.T) (paths []string) {
	t.Helper()
	for _, p := range listed(t) {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			paths = append(paths, short(p.ImportPath))
		}
	}
	return paths
}

// A package without a row would never run.
func TestEachPackageHasATier(t *testing.T) {
	tier.Record(t)
	var paths []string
	for _, p := range rows(t) {
		paths = append(paths, p.Path)
	}
	assert.ElementsMatch(t, withTests(t), paths, "internal/tier/packages.txt has one row for each package with tests")
}

// The go command lists the packages in a child process, so their folders are inputs.
func TestTheFoldersOfPackagesAreInputs(t *testing.T) {
	tier.Record(t)
	all := rows(t)
	ours := all[slices.IndexFunc(all, func(p tier.Package) bool { return p.Path == "tools/suite" })]
	for _, p := range listed(t) {
		folder, _, _ := strings.Cut(short(p.ImportPath), "/")
		assert.Contains(t, ours.Inputs, folder, "packages.txt, tools/suite")
	}
}

// Files that cgo generated for another package would be read from the folder of the first build.
func TestPackagesWithCgoAreCompiledForThisFolder(t *testing.T) {
	tier.Record(t)
	var folders []string
	for _, p := range listed(t) {
		if len(p.CgoFiles) > 0 {
			folder, _, _ := strings.Cut(short(p.ImportPath), "/")
			folders = append(folders, folder)
		}
	}
	assert.Equal(t, withCgo, slices.Compact(slices.Sorted(slices.Values(folders))))
}

func TestDigestsChangeWithTheFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	none := digest([]string{file})
	require.NoError(t, os.WriteFile(file, []byte("gcc 12"), 0o600))
	one := digest([]string{file})
	require.NoError(t, os.WriteFile(file, []byte("gcc 13"), 0o600))
	assert.NotEqual(t, none, one)
	assert.NotEqual(t, one, digest([]string{file}))
}

// calls lists the functions of a package's tests that call functions of package tier: "tests/x
// TestY".
func calls(t *testing.T, dir, function string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && contains(f, "tier."+function) {
				names = append(names, dir+" "+f.Name.Name)
			}
		}
	}
	return names
}

// imports reports whether a package's tests import another package.
func imports(t *testing.T, dir, path string) (found bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		found = found || slices.ContainsFunc(file.Imports,
			func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
	}
	return found
}

// contains reports whether a function or a statement calls another function: "package.Name".
func contains(code ast.Node, called string) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name+"."+s.Sel.Name == called
		}
		return true
	})
	return found
}

// Without the call, cached results would remain valid although an input of a child process changed.
func TestPackagesThatStartProcessesRecordInputs(t *testing.T) {
	for _, p := range rows(t) {
		if imports(t, p.Path, "os/exec") {
			assert.True(t, len(p.Inputs) > 0 || p.Uncached != "",
				"%s starts processes: packages.txt must list their inputs", p.Path)
		}
		if len(p.Inputs) > 0 || p.Uncached != "" {
			assert.True(t, p.Path == "internal/tier" || len(calls(t, p.Path, "Record")) > 0,
				"%s has a row with inputs and no call of tier.Record", p.Path)
		}
	}
}

var nightlyRow = regexp.MustCompile("(?m)^\\| `([a-z]+(?:/[a-z]+)*)` `(\\w+)`")

// nightlyCells are the test and its left-out part.
var nightlyCells = regexp.MustCompile("(?m)^\\| `([a-z]+(?:/[a-z]+)*)` `(\\w+)`[^|]*\\| ([^|]+) \\|")

// The tests that make test omits are listed, with the tests that cover them.
func TestNightlyTestsAreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	var listed, found []string
	for _, row := range nightlyRow.FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, row[1]+" "+row[2])
	}
	for _, p := range rows(t) {
		found = append(found, append(calls(t, p.Path, "OnlyNightly"), calls(t, p.Path, "IsNightly")...)...)
	}
	found = slices.DeleteFunc(found, func(name string) bool { return strings.HasPrefix(name, "internal/tier ") })
	slices.Sort(found)
	slices.Sort(listed)
	assert.Equal(t, slices.Compact(found), slices.Compact(listed))
	assert.NotEmpty(t, listed)
}

// covering is a test that a row names, of the row's package or of another.
var covering = regexp.MustCompile("`(Test\\w+)`(?: of `([a-z/]+)`)?")

// separators are between the parts of a cell of the table.
var separators = regexp.MustCompile(`[,;] | and `)

// leftOut returns what each test of the table leaves to make nightly, by package and name.
func leftOut(text string) map[string][]string {
	parts := map[string][]string{}
	for _, row := range nightlyCells.FindAllStringSubmatch(text, -1) {
		parts[row[1]+" "+row[2]] = separators.Split(row[3], -1)
	}
	return parts
}

// excused matches the beginning of a reason why nothing in make test covers a row.
var excused = regexp.MustCompile(`not covered: \S`)

// uncovered returns the rows that name neither a covering test nor a reason, and the named tests
// that make test does not run, or not with the part that the row names.
func uncovered(t *testing.T, text string) (names []string) {
	t.Helper()
	left := leftOut(text)
	for line := range strings.Lines(text) {
		row := nightlyRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), " | ")
		cell := cells[len(cells)-1]
		named := covering.FindAllStringSubmatch(cell, -1)
		if len(cells) != 3 || len(named) == 0 && !excused.MatchString(cell) {
			names = append(names, "row "+row[1]+" "+row[2])
		}
		for _, test := range named {
			pkg := cmp.Or(test[2], row[1])
			nightly := slices.ContainsFunc(left[pkg+" "+test[1]], func(part string) bool {
				return regexp.MustCompile(`(?:^| )` + regexp.QuoteMeta(part) + ",? in `" + test[1] + "`").MatchString(
					cell)
			})
			if nightly || !runsEachTime(t, pkg, test[1]) {
				names = append(names, pkg+" "+test[1])
			}
		}
	}
	return names
}

// runsEachTime reports whether make test runs a package, and the package has a test that is not
// left to make nightly as a whole.
func runsEachTime(t *testing.T, pkg, name string) bool {
	t.Helper()
	if !slices.ContainsFunc(rows(t), func(p tier.Package) bool { return p.Path == pkg && p.Tier != tier.Nightly }) {
		return false
	}
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				return !slices.ContainsFunc(f.Body.List, leaves)
			}
		}
	}
	return false
}

// leaves reports whether a statement of a test leaves all of it to make nightly: it calls
// tier.OnlyNightly, or skips the test if tier.IsNightly is false.
func leaves(statement ast.Stmt) bool {
	switch s := statement.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && contains(call.Fun, "tier.OnlyNightly")
	case *ast.IfStmt:
		not, ok := s.Cond.(*ast.UnaryExpr)
		return ok && not.Op == token.NOT && contains(not.X, "tier.IsNightly") && contains(s.Body, "t.Skip")
	}
	return false
}

// A nightly test is covered by a test that is not nightly.
func TestNightlyTestsAreCoveredByOthers(t *testing.T) {
	text, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	assert.Empty(t, uncovered(t, string(text)))
	for _, wrong := range []string{
		"", "the same", "one order", "the scripts that the mutants break", "all of `tests/torch`", "not covered: ",
		"not covered",
		"`TestNoSuchTest`", "`TestSanitized`", "`Test`", "it is in `TestMutants` of `tests/torchops`",
		"`TestTheTableAndTheConsumer` of `tests/torchops`", "`TestTheTableAndTheConsumer` | more",
		"`TestWheelsAreSmall` of `tests/release`", "`TestTheTableAndTheConsumer` and `TestNoSuchTest`",
	} {
		assert.Len(t, uncovered(t, "| `tests/torch` `TestOf` | all | "+wrong+" |\n"), 1, wrong)
	}
	for _, right := range []string{
		"`TestTheTableAndTheConsumer`", "the same in `TestEndings` of `tests/python`", "not covered: it needs a GPU",
		"one part in `TestTheTableAndTheConsumer`; not covered: the other part",
	} {
		assert.Empty(t, uncovered(t, "| `tests/torch` `TestOf` | all | "+right+" |\n"), right)
	}
	const detectors = "| `tests/gobind` `TestUnderEachDetector` | asan, msan | race in `TestUnderEachDetector` |\n"
	assert.Len(t, uncovered(t, detectors+"| `tests/gobind` `TestOf` | all | asan in `TestUnderEachDetector` |\n"), 1)
	assert.Empty(t, uncovered(t, detectors+"| `tests/gobind` `TestOf` | all | race in `TestUnderEachDetector` |\n"))
}

func TestTheToolchainHasWhatIsInstalledApart(t *testing.T) {
	t.Chdir(t.TempDir())
	before := toolchain()
	require.NoError(t, os.MkdirAll(".cache/ci", 0o755))
	require.NoError(t, os.WriteFile(".cache/ci/installed.txt", []byte("mypy==2.4.1\n"), 0o600))
	assert.NotEqual(t, before, toolchain())
}
