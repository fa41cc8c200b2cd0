package gokernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The example trains in torch, and uses jit in JAX; its README shows its output.
func TestTheExample(t *testing.T) {
	slow(t)
	python := testtool.RequirePython(t)
	libraries := []string{"numpy"}
	for _, library := range []string{"torch", "jax"} {
		if testtool.Has(python, library) {
			libraries = append(libraries, library)
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../examples/go-kernel")))
	for _, made := range []string{"generated", "build"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, made)))
	}
	cmd := exec.Command("sh", append([]string{filepath.Join(dir, "run.sh")}, libraries...)...)
	cmd.Env = append(os.Environ(), "DLPACKGEN="+testkit.Program(t, ""), "GOWORK=off", "GOFLAGS=-trimpath",
		"PYTHONDONTWRITEBYTECODE=1", "JAX_PLATFORMS=cpu",
		"DLPACKGEN_PYTHON="+testkit.ForkedProgram(t, python, testkit.Torch))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	readme, err := os.ReadFile("../../examples/go-kernel/README.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(readme)) {
		about, rest, is := strings.Cut(line, ": ")
		if is && !strings.Contains(line, "at most") && strings.Contains(strings.ToLower(strings.Join(libraries, " ")),
			strings.ToLower(about)) {
			assert.Contains(t, string(out), rest)
		}
	}
}
