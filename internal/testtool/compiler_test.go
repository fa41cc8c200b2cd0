package testtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// source needs a header in its own folder, and prints a number.
func source(t *testing.T, number string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "source")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "number.h"), []byte("#define NUMBER "+number+"\n"), 0o600))
	text := "#include <stdio.h>\n#include \"number.h\"\nint main(void) { printf(\"%d %d\\n\", NUMBER, MORE); " +
		"return 0; }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.c"), []byte(text), 0o600))
	return dir
}

// hits counts the results from ccache's folder.
func hits(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("ccache", "--print-stats").Output()
	require.NoError(t, err)
	return regexp.MustCompile(`preprocessed_cache_hit\s+(\d+)`).FindStringSubmatch(string(out))[1]
}

func TestCompiledSourcesAreCachedAcrossFolders(t *testing.T) {
	Require(t, "ccache", "ccache")
	requireCached(t)
	t.Setenv("TMPDIR", t.TempDir()+"/")
	requireCached(t)
}

// requireCached compiles sources in temporary folders, and counts the results from the cache.
func requireCached(t *testing.T) {
	t.Helper()
	cache, err := os.MkdirTemp("", "ccache")
	require.NoError(t, err)
	defer os.RemoveAll(cache)
	t.Setenv("CCACHE_DIR", cache)
	gcc := RequireCompiler(t, "gcc", "gcc")
	for _, test := range []struct{ number, more, prints, hits string }{
		{"1", "7", "1 7\n", "0"}, {"1", "7", "1 7\n", "1"}, {"2", "7", "2 7\n", "1"}, {"1", "8", "1 8\n", "1"},
		{"2", "7", "2 7\n", "2"},
	} {
		dir := source(t, test.number)
		defer os.RemoveAll(dir)
		program := filepath.Join(dir, "x")
		out, err := exec.Command(gcc, "-g", "-DMORE="+test.more, "-I", dir, filepath.Join(dir, "x.c"), "-o", program,
			"-lm").CombinedOutput()
		require.NoError(t, err, "%s", out)
		out, err = exec.Command(program).Output()
		require.NoError(t, err)
		assert.Equal(t, test.prints, string(out))
		assert.Equal(t, test.hits, hits(t))
	}
}

func TestErrorsAndOtherCommandsPassTheCache(t *testing.T) {
	Require(t, "ccache", "ccache")
	t.Setenv("CCACHE_DIR", t.TempDir())
	gcc, dir := RequireCompiler(t, "gcc", "gcc"), t.TempDir()
	wrong := filepath.Join(dir, "x.c")
	require.NoError(t, os.WriteFile(wrong, []byte("int main(void) { return missing; }\n"), 0o600))
	out, err := exec.Command(gcc, "-o", filepath.Join(dir, "x"), wrong).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "undeclared")
	out, err = exec.Command(gcc, "-fsyntax-only", "-x", "c", wrong).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "undeclared")
	out, err = exec.Command(gcc, "-print-file-name=libasan.so").Output()
	require.NoError(t, err)
	assert.NotEmpty(t, out)
}

// Another package may add a compiler to the folder after this one has ended.
func TestTheFolderOfCompilersIsNoInput(t *testing.T) {
	Require(t, "ccache", "ccache")
	program, err := os.Executable()
	require.NoError(t, err)
	inputs := filepath.Join(t.TempDir(), "inputs")
	out, err := exec.Command(program, "-test.run=^TestErrorsAndOtherCommandsPassTheCache$",
		"-test.testlogfile="+inputs).CombinedOutput()
	require.NoError(t, err, "%s", out)
	known, err := os.ReadFile(inputs)
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^open .*/\.cache/compilers/gcc$`, string(known))
	assert.NotRegexp(t, `(?m)^(stat|open) .*/\.cache(/compilers)?$`, string(known))
}
