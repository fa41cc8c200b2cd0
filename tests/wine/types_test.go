package wine

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// checker type-checks packages from their sources, for the system of build.Default.
type checker struct {
	files   *token.FileSet
	folders map[string]string // of packages outside of the standard library
	library types.Importer    // of the standard library
	checked map[string]*types.Package
}

// Import type-checks a package and its imports, each once.
func (c *checker) Import(path string) (*types.Package, error) {
	dir, found := c.folders[path]
	if !found {
		return c.library.Import(path)
	}
	if c.checked[path] != nil {
		return c.checked[path], nil
	}
	listed, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range listed.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: c}
	c.checked[path], err = config.Check(path, c.files, files, nil)
	return c.checked[path], err
}

// newChecker returns a checker for a system, which build.Default describes until the test ends.
func newChecker(t *testing.T, goos string) *checker {
	t.Helper()
	host := build.Default
	t.Cleanup(func() { build.Default = host })
	build.Default.GOROOT, build.Default.GOOS, build.Default.CgoEnabled = testtool.GoRoot(t), goos, false
	const shown = "{{if not .Standard}}{{.ImportPath}} {{.Dir}}{{end}}"
	list := exec.Command("go", "list", "-deps", "-f", shown, "./cmd/dlpackgen")
	list.Dir, list.Env = "../..", append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)
	c := &checker{files: token.NewFileSet(), folders: map[string]string{}, checked: map[string]*types.Package{}}
	c.library = importer.ForCompiler(c.files, "source", nil)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path, dir, _ := strings.Cut(lines.Text(), " ")
		c.folders[path] = dir
	}
	return c
}

// Compiling the standard library for another system, which make nightly does, takes ten times as
// long.
func TestTheCommandTypeChecksForWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the standard library: left to make test")
	}
	c := newChecker(t, "windows")
	_, err := c.Import("github.com/dlpackgen/dlpackgen/cmd/dlpackgen")
	require.NoError(t, err)
	var read []string
	c.files.Iterate(func(f *token.File) bool {
		read = append(read, filepath.Base(f.Name()))
		return true
	})
	require.Contains(t, read, "guard_windows.go")
	require.NotContains(t, read, "guard_unix.go")
}

// A file that only Windows compiles is checked.
func TestAMistakeForWindowsIsFound(t *testing.T) {
	c := newChecker(t, "windows")
	c.folders["wrong"] = t.TempDir()
	wrong := "package wrong\n\nimport \"syscall\"\n\nvar _ = syscall.%s\n"
	file := filepath.Join(c.folders["wrong"], "wrong_windows.go")
	require.NoError(t, os.WriteFile(file, []byte(mutant.Once(t, wrong, "%s", "Flock")), 0o600))
	_, err := c.Import("wrong")
	require.ErrorContains(t, err, "undefined: syscall.Flock")
	require.NoError(t, os.WriteFile(file, []byte(mutant.Once(t, wrong, "%s", "LoadLibrary")), 0o600))
	delete(c.checked, "wrong")
	_, err = c.Import("wrong")
	require.NoError(t, err)
}
