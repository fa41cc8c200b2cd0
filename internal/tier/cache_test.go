package tier

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// copied is a module of the same path, with this package and the tests of three packages with rows:
// one whose inputs are listed, one that also shortens the list of opened files, and one whose
// inputs cannot be listed.
func copied(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "internal/tier/tier.go", "internal/tier/log.go",
		"internal/tier/packages.txt"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		place(t, dir, name, string(text))
	}
	const inputs = "import \"testing\"\n\nimport \"github.com/dlpackgen/dlpackgen/internal/tier\"\n\nfunc " +
		"TestInputs(t *testing.T) { tier.Record(t) }\n"
	place(t, dir, "tests/c/inputs_test.go", "package c\n\n"+inputs)
	place(t, dir, "tests/checker/inputs_test.go", "package checker\n\nimport \"os\"\n\n"+inputs+
		"\nfunc TestMain(m *testing.M) { os.Exit(tier.Tests{M: m}.Run()) }\n")
	place(t, dir, "tests/recipes/inputs_test.go", "package recipes\n\n"+inputs)
	place(t, dir, "gen/c/dlpack/dlpack.h", "")
	return dir
}

// place writes a file with a modification time that is old enough for Go's cache.
func place(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	then := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, then, then))
}

// After a change of a header that a compiler reads, the tests that start the compiler run again.
func TestAChangedInputRunsTestsAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tests, and -short was given")
	}
	dir := copied(t)
	run := func(pkg, toolchain, number string) string {
		cmd := exec.Command("go", "test", "-mod=mod", "-vet=off", pkg)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off", Toolchain+"="+toolchain, Run+"="+number)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	const cached = "(cached)"
	assert.NotContains(t, run("./tests/c", "gcc 12", "1"), cached)
	assert.Contains(t, run("./tests/c", "gcc 12", "2"), cached, "nothing has changed")
	place(t, dir, "gen/c/dlpack/dlpack.h", "#define X 1\n")
	assert.NotContains(t, run("./tests/c", "gcc 12", "3"), cached, "a header has changed")
	assert.Contains(t, run("./tests/c", "gcc 12", "4"), cached)
	place(t, dir, "gen/c/dlpack/more.h", "")
	assert.NotContains(t, run("./tests/c", "gcc 12", "5"), cached, "there is one more")
	assert.NotContains(t, run("./tests/c", "gcc 13", "6"), cached, "another compiler")
	assert.NotContains(t, run("./tests/checker", "gcc 12", "1"), cached)
	assert.Contains(t, run("./tests/checker", "gcc 12", "2"), cached)
	place(t, dir, "gen/c/dlpack/more.h", "#define X 1\n")
	assert.NotContains(t, run("./tests/checker", "gcc 12", "3"), cached, "the shorter list has the header")
	assert.NotContains(t, run("./tests/recipes", "gcc 12", "1"), cached)
	assert.NotContains(t, run("./tests/recipes", "gcc 12", "2"), cached, "its inputs cannot be listed")
}
