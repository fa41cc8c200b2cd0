package gokernels

import (
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// forSystem adds the Go kernel of the example to other callers, and generates its library.
func forSystem(t *testing.T, callers string) string {
	t.Helper()
	dir, example := t.TempDir(), filepath.Join(golden.Root(t), "examples/go-kernel")
	config, err := os.ReadFile(filepath.Join(example, "dlpackgen.yaml"))
	require.NoError(t, err)
	const ofPython = "python: {module: _kernels}, torchshim: {module: _kernels}, jax: {module: _kernels},"
	text := mutant.Once(t, string(config), ofPython, callers)
	for name, data := range map[string]string{"dlpackgen.yaml": text,
		"go.mod": "module example.com/gokernel\n\ngo 1.24\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	testkit.Run(t, "cp", filepath.Join(example, "rmsnorm.go"), dir)
	testkit.Run(t, testkit.Program(t, ""), "generate", "--quiet", "--config", filepath.Join(dir, "dlpackgen.yaml"))
	return dir
}

// link links the library of kernels in Go, with warnings as errors.
func link(t *testing.T, dir, file string, env ...string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, "./generated/gokernels")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-trimpath", "GOWORK=off",
		"CGO_CFLAGS=-O1 -Wall -Wextra -Werror -Wno-unused-parameter "), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A library of kernels in Go is linked for Windows with the callers that need no Python, and needs
// only Windows' own libraries. It is not run.
func TestALibraryIsLinkedForWindows(t *testing.T) {
	tier.OnlyNightly(t)
	cc := testtool.Require(t, "x86_64-w64-mingw32-gcc", "mingw-w64")
	dir := forSystem(t, "tvmffi: {}, onnxruntime: {},")
	link(t, dir, "kernels.dll", "GOOS=windows", "GOARCH=amd64", "CC="+cc)
	file, err := pe.Open(filepath.Join(dir, "kernels.dll"))
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.ImportedSymbols()
	require.NoError(t, err)
	require.NotEmpty(t, symbols)
	assert.Contains(t, strings.ToLower(strings.Join(symbols, " ")),
		"getmodulehandleexw:kernel32.dll") // it stays loaded
	for _, symbol := range symbols {
		assert.Regexp(t, `:(?i:kernel32|msvcrt)\.dll$`, symbol)
	}
}

// A library of kernels in Go is linked for macOS with all callers, and needs only macOS's own
// libraries and Python. It is not run.
func TestALibraryIsLinkedForMacOS(t *testing.T) {
	tier.OnlyNightly(t)
	headers := testtool.RequireHeaders(t, testtool.RequirePython(t))
	config, err := filepath.Abs("../callers/testdata/systems/python_config.h")
	require.NoError(t, err)
	dir := forSystem(t, "python: {module: _kernels}, torchshim: {module: _kernels}, jax: {module: _kernels}, "+
		"tvmffi: {}, onnxruntime: {},")
	for _, arch := range []string{"arm64", "amd64"} {
		link(t, dir, arch+".dylib", "GOOS=darwin", "GOARCH="+arch, "CC="+testtool.RequireMacCompiler(t, arch),
			"CGO_CFLAGS=-O1 -Wall -Wextra -Werror -Wno-unused-parameter -fexceptions -include "+config+" -isystem "+
				headers, "CGO_LDFLAGS=-Wl,-undefined,dynamic_lookup")
		libraries, anywhere := testtool.MacImports(t, filepath.Join(dir, arch+".dylib"))
		assert.ElementsMatch(t, []string{"/usr/lib/libSystem.B.dylib", "/usr/lib/libresolv.9.dylib"},
			slices.DeleteFunc(libraries, func(name string) bool { return strings.Contains(name, "CoreFoundation") }))
		assert.Greater(t, len(anywhere), 50)
		for _, symbol := range anywhere {
			assert.Regexp(t, "^__?Py", symbol)
		}
	}
}
