package callers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The callers of an unusual description compile without warnings.
func TestOddDescriptionsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	gcc, gxx := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.Require(t, "g++", "g++")
	files, err := filepath.Glob("testdata/odd/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.24\n"),
			0o600))
		testkit.Generate(t, file, dir)
		warnings := []string{"-fsyntax-only", "-DDLPACKGEN_WITHOUT_CUDA", "-Wall", "-Wextra", "-Werror",
			"-isystem", testtool.RequireHeaders(t, testtool.RequirePython(t))}
		for _, folder := range []string{"c", "python", "kernels", "cpp"} {
			warnings = append(warnings, "-I"+filepath.Join(dir, folder))
		}
		args := slices.Concat(warnings, []string{"-std=c11", "-fexceptions", "-DPy_LIMITED_API=0x030B0000"})
		for _, source := range sources {
			if path := filepath.Join(dir, source); fileExists(path) {
				args = append(args, path)
			}
		}
		testkit.Run(t, gcc, args...)
		header := filepath.Join(dir, "cpp/kernels.hpp")
		testkit.Run(t, gxx, append(warnings, "-std=c++17", "-Wconversion", "-x", "c++", header)...)
		testkit.CgoFlags(t, filepath.Join(dir, "dlpack", "kernels"), "kernels", "-I"+dir+"/c -I"+dir+"/kernels")
		out, err := testkit.Vet(dir, []string{"GOWORK=off", "CGO_CFLAGS=" + testkit.Level()}, "./dlpack/kernels")
		require.NoError(t, err, out)
		assert.Empty(t, strings.TrimSpace(out))
	}
}
