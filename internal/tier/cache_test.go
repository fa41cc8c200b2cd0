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

// copied is a module of the same path, with this package and the tests of four packages with rows:
// one whose inputs are listed, one that also shortens the list of opened files, one that runs the
// command, and one whose inputs cannot be listed.
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
	place(t, dir, "tests/ufunc/inputs_test.go", "package ufunc\n\n"+inputs)
	place(t, dir, "tests/recipes/inputs_test.go", "package recipes\n\n"+inputs)
	for _, name := range []string{"gen/c/dlpack/dlpack.h", "spec/a.yaml", "templates/a.h", "cmd/a/README.md"} {
		place(t, dir, name, "")
	}
	return dir
}

func digest(t *testing.T, dir string) string {
	t.Helper()
	d, err := CommandDigest(dir)
	require.NoError(t, err)
	return d
}

// Each source of the command changes its digest. Without the digest, the status of each file
// counts.
func TestTheSourcesOfTheCommandAreInputs(t *testing.T) {
	dir := copied(t)
	was := digest(t, dir)
	for _, name := range []string{"cmd/a/main.go", "internal/b/b.go", "spec/a.yaml", "templates/a.h", "go.mod",
		"go.sum"} {
		place(t, dir, name, name)
		is := digest(t, dir)
		assert.NotEqual(t, was, is, name)
		was = is
	}
	for _, name := range []string{"cmd/a/main_test.go", "internal/b/testdata/b.go", "tests/c/c.h"} {
		place(t, dir, name, name)
		assert.Equal(t, was, digest(t, dir), name)
	}
	p := Package{Inputs: []string{"tests/c", commandInput}}
	t.Setenv(Command, "")
	assert.Equal(t, append([]string{"tests/c"}, sources...), inputs(p))
	t.Setenv(Command, was)
	assert.Equal(t, []string{"tests/c"}, inputs(p))
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
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off",
			Toolchain+"="+toolchain, Run+"="+number, Command+"="+digest(t, dir))
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
	assert.NotContains(t, run("./tests/ufunc", "gcc 12", "1"), cached)
	place(t, dir, "internal/tier/a_test.go", "package tier\n")
	place(t, dir, "internal/tier/testdata/a", "")
	assert.Contains(t, run("./tests/ufunc", "gcc 12", "2"), cached, "builds of the command read no tests")
	place(t, dir, "templates/b.h", "")
	assert.NotContains(t, run("./tests/ufunc", "gcc 12", "3"), cached, "there is one more template")
	assert.NotContains(t, run("./tests/recipes", "gcc 12", "1"), cached)
	assert.NotContains(t, run("./tests/recipes", "gcc 12", "2"), cached, "its inputs cannot be listed")
}
