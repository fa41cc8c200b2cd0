package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// debian and tvmFFI return the include folders of other projects' headers, which are compared with
// ours.
func debian(t *testing.T) string {
	t.Helper()
	const dir = "/usr/include"
	if _, err := os.Stat(filepath.Join(dir, "dlpack/dlpack.h")); err != nil {
		t.Skip("needs Debian's dlpack.h: apt-get install libdlpack-dev")
	}
	return dir
}

func tvmFFI(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DLPACKGEN_TVM_FFI_HEADER")
	if path == "" {
		found, err := filepath.Glob("../../.venv/lib/python3*/site-packages/tvm_ffi/include/dlpack/dlpack.h")
		require.NoError(t, err)
		path = strings.Join(found, "")
	}
	if path == "" {
		t.Skip("needs the header of apache-tvm-ffi: run tools/setup.sh, or set DLPACKGEN_TVM_FFI_HEADER")
	}
	return filepath.Dir(filepath.Dir(path))
}

// assertRuns compiles a program with a folder of headers, and expects its output.
func assertRuns(t *testing.T, want, dir, source string, command ...string) {
	t.Helper()
	out, err := exec.Command(build(t, dir, source, command...)).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	assert.Equal(t, want, string(out))
}

// One source, unchanged, with our header and with others' headers.
func runPeer(t *testing.T, dir string) {
	t.Helper()
	assertRuns(t, "1 265 0\n", dir, "consumer.c", command("gcc", "c", "c99", strict...)...)
	assertRuns(t, "1 265 0\n", dir, "consumer.c", command("g++", "c++", "c++11", strict...)...)
}

func runLegacyPeer(t *testing.T, dir string) {
	t.Helper()
	assertRuns(t, "5 1\n", dir, "legacy.c", command("gcc", "c", "c99", "-Wall", "-Wextra", "-Werror")...)
	assertRuns(t, "5 1\n", dir, "legacy.c", command("g++", "c++", "c++11", "-Wall", "-Wextra", "-Werror")...)
}

func TestPeersCompileUnchanged(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, version)
			if !spec.Embedded().Older(version, "1.2") {
				runPeer(t, dir)
			}
			if !spec.Embedded().Older(version, "0.4") { // the first with DLDevice
				runLegacyPeer(t, dir)
			}
		})
	}
}

func TestPeersCompileWithTheHeaderOfTVMFFI(t *testing.T) {
	dir := tvmFFI(t)
	runPeer(t, dir)
	runLegacyPeer(t, dir)
}

func TestPeersCompileWithTheHeaderOfDebian(t *testing.T) { runLegacyPeer(t, debian(t)) }

var token = regexp.MustCompile(`\w+|"[^"]*"|\S`)

// tokens reads a header without its comments. A directive ends with its line. A comma before a
// brace, which C89 does not allow, is omitted.
func tokens(t *testing.T, path string) (out []string) {
	t.Helper()
	text, err := exec.Command("gcc", "-fpreprocessed", "-dD", "-E", "-P", path).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		found := token.FindAllString(line, -1)
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			found = append(found, "end of directive")
		}
		out = append(out, found...)
	}
	return strings.Split(strings.ReplaceAll(strings.Join(out, "\n"), ",\n}", "}"), "\n")
}

// A drop-in replacement: the same tokens in the same order.
func TestSameTokensAsTheHeaderOfTVMFFI(t *testing.T) {
	assert.Equal(t, tokens(t, filepath.Join(tvmFFI(t), "dlpack/dlpack.h")),
		tokens(t, filepath.Join(headers(t, "1.3"), "dlpack/dlpack.h")))
}

func TestSameTokensAsTheHeaderOfDebian(t *testing.T) {
	assert.Equal(t, tokens(t, filepath.Join(debian(t), "dlpack/dlpack.h")),
		tokens(t, filepath.Join(headers(t, "0.6"), "dlpack/dlpack.h")))
}

// Our checks accept other projects' headers.
func TestChecksHoldForTheHeadersOfOthers(t *testing.T) {
	for version, dir := range map[string]string{"1.3": tvmFFI(t), "0.6": debian(t)} {
		source := "#include \"" + filepath.Join(dir, "dlpack/dlpack.h") + "\"\n" + include("dlpackgen/abi_check.h")
		assertCompiles(t, headers(t, version), source, c11...)
		assertCompiles(t, headers(t, version), source, cxx11...)
	}
}
