package gokernels

import (
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// A library of kernels in Go is linked for Windows with the callers that need no Python, and needs
// Windows' own libraries only. It is not run.
func TestALibraryIsLinkedForWindows(t *testing.T) {
	tier.OnlyNightly(t)
	cc := testtool.Require(t, "x86_64-w64-mingw32-gcc", "mingw-w64")
	dir, example := t.TempDir(), filepath.Join(golden.Root(t), "examples/go-kernel")
	config, err := os.ReadFile(filepath.Join(example, "dlpackgen.yaml"))
	require.NoError(t, err)
	const ofPython = "python: {module: _kernels}, torchshim: {module: _kernels}, jax: {module: _kernels},"
	require.Contains(t, string(config), ofPython)
	text := strings.Replace(string(config), ofPython, "tvmffi: {}, onnxruntime: {},", 1)
	for name, data := range map[string]string{"dlpackgen.yaml": text, "go.mod": "module example.com/gokernel\n\ngo 1.24\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	testkit.Run(t, "cp", filepath.Join(example, "rmsnorm.go"), dir)
	testkit.Run(t, generator(t), "generate", "--quiet", "--config", filepath.Join(dir, "dlpackgen.yaml"))
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", "kernels.dll", "./generated/gokernels")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=-trimpath", "GOWORK=off",
		"CC="+cc, "CGO_CFLAGS=-O1 -Wall -Wextra -Werror -Wno-unused-parameter")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	file, err := pe.Open(filepath.Join(dir, "kernels.dll"))
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.ImportedSymbols()
	require.NoError(t, err)
	require.NotEmpty(t, symbols)
	for _, symbol := range symbols {
		assert.Regexp(t, `:(?i:kernel32|msvcrt)\.dll$`, symbol)
	}
}
