package kernels

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
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// publicFolder describes kernels of public projects with their own signatures.
const publicFolder = "testdata/public"

// Without torch, there are no arrays with the dtypes of the last two kernels.
const requireTorch = "RuntimeError: static_scaled_fp8_quant"

// All of them can be described, and the generated code compiles: each valid call reaches its stub,
// and each wrong one has its message.
func TestPublicKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	dir := t.TempDir()
	testkit.Generate(t, publicFolder+"/kernels.yaml", dir)
	for _, made := range []string{"cpp/dlpackgen_torch/described_operators.hpp", "go/dlpack/kernels/kernels.go"} {
		assert.Contains(t, read(t, filepath.Join(dir, made)), "mha_varlen_fwd")
	}
	stubs, err := filepath.Glob(dir + "/kernels/*_impl.c")
	require.NoError(t, err)
	require.Len(t, stubs, 15)
	flags := append([]string{"-O0", "-Wall", "-Wextra", "-Werror"}, stubs[1:]...)
	flags = append(flags, stubsForCUDA(t, dir)...)
	home := moduleOf(t, python, dir, stubs[0], flags...)
	cmd := testkit.Forked(python, testkit.Torch, publicFolder+"/called.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+home, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	want := read(t, publicFolder+"/sentences.txt")
	requireThreeMistakes(t, want)
	if !testtool.Has(python, "torch") {
		want, _, _ = strings.Cut(want, requireTorch)
	}
	assert.Equal(t, want, string(out))
}

// stubsForCUDA compiles the nvcc stubs as C, with an empty CUDA header.
func stubsForCUDA(t *testing.T, dir string) []string {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernels", "cuda_runtime.h"), nil, 0o600))
	stubs, err := filepath.Glob(dir + "/kernels/*_impl.cu")
	require.NoError(t, err)
	require.NotEmpty(t, stubs)
	return append([]string{"-x", "c"}, stubs...)
}

// requireThreeMistakes counts the calls of each kernel.
func requireThreeMistakes(t *testing.T, sentences string) {
	t.Helper()
	valid := 0
	for i, part := range strings.Split("\n"+sentences, "\nRuntimeError: ") {
		if i > 0 {
			valid++
			assert.GreaterOrEqual(t, strings.Count(part, "\n    "), 3, part)
		}
	}
	assert.Equal(t, 15, valid)
}

// The functions of C++ compile.
func TestPublicKernelsInCpp(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, publicFolder+"/kernels.yaml", dir)
	output, err := cppCompiles(t, dir, "(void)0;")
	require.NoError(t, err, output)
}

// The package of Go compiles.
func TestPublicKernelsInGo(t *testing.T) {
	tier.OnlyNightly(t)
	dir := t.TempDir()
	testkit.Generate(t, publicFolder+"/kernels.yaml", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.24\n"),
		0o600))
	out, err := testkit.Vet(dir, []string{"CGO_CFLAGS=-O0 -Wall -Werror", "GOWORK=off"}, "./go/dlpack/kernels")
	require.NoError(t, err, out)
}

// The operators for PyTorch compile.
func TestPublicKernelsInTorch(t *testing.T) {
	tier.OnlyNightly(t)
	python := testtool.RequirePython(t)
	torch := testtool.RequirePackage(t, python, "torch", "pip install -r tests/requirements-frameworks.txt")
	dir := t.TempDir()
	testkit.Generate(t, publicFolder+"/kernels.yaml", dir)
	args := append(cppIncludes(dir), "-std=c++20", "-O0", "-fsyntax-only")
	for _, folder := range []string{torch + "/include", testtool.RequireHeaders(t, python)} {
		args = append(args, "-isystem", folder)
	}
	source := filepath.Join(dir, "cpp/dlpackgen_torch/described_kernels.cpp")
	out, err := exec.Command(testtool.Require(t, "g++", "g++"), append(args, source)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
