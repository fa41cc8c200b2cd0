// Package gokernels builds libraries of kernels in Go, and calls them from every host.
package gokernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "gokernels")) }

// hosts are the hosts in hosts.py.
var hosts = []string{"python", "torch", "jax", "tvmffi", "onnxruntime", "ufunc", "paddle"}

// library is the result of go build in a module below.
var library = map[string]string{"hosts": "_kernels.abi3.so", "args": "_args.abi3.so"}

// slow skips the test if there is no time for a build.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a library by cgo for many seconds, and -short was given")
	}
}

// written is a module of testdata with its generated files.
func written(t *testing.T, name string) string {
	t.Helper()
	return testkit.Built(t, name+"-sources", func(dir string) { copied(t, name, dir) })
}

// copied copies a module of testdata and its generated files below a folder.
func copied(t *testing.T, name, dir string) {
	t.Helper()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/"+name)))
	testkit.Run(t, testkit.Program(t, ""), "generate", "--quiet", "--config", filepath.Join(dir, "dlpackgen.yaml"))
}

// unit is the file of a module that includes the Python module.
func unit(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "generated/gokernels/unit_python__kernels.c"))
	require.NoError(t, err)
	return string(text)
}

// environment is the environment for a build with Python headers.
func environment(t *testing.T, flags ...string) []string {
	t.Helper()
	all := append([]string{testkit.Level(), "-isystem", testtool.RequireHeaders(t, testtool.RequirePython(t))},
		flags...)
	return []string{"CGO_CFLAGS=" + strings.Join(all, " "), "GOWORK=off", "GOFLAGS=-trimpath"}
}

// command is the go command in a module, with Python headers.
func command(t *testing.T, dir string, flags []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment(t, flags...)...)
	return cmd
}

// build builds the library of a module.
func build(t *testing.T, name, dir string, flags ...string) string {
	t.Helper()
	file := filepath.Join(dir, library[name])
	out, err := command(t, dir, flags, "build", "-buildmode=c-shared", "-o", file,
		"./generated/gokernels").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// built returns the library of a module without mistakes, and its folder.
func built(t *testing.T, name string) (file, sources string) {
	t.Helper()
	slow(t)
	testtool.RequirePython(t)
	testtool.RequireCompiler(t, "gcc", "gcc")
	sources = written(t, name)
	dir := testkit.Built(t, name+"-library", func(dir string) {
		testkit.Run(t, "cp", build(t, name, sources, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"), dir)
	})
	return filepath.Join(dir, library[name]), sources
}

// says runs a script with libraries in Python's search path.
func says(t *testing.T, libraries []string, env []string, script string, args ...string) (string, error) {
	t.Helper()
	return output(t, exec.Command(testtool.RequirePython(t), append([]string{"-W", "ignore", script}, args...)...),
		libraries, env)
}

// output runs a command of Python with libraries in its search path.
func output(t *testing.T, cmd *exec.Cmd, libraries, env []string) (string, error) {
	t.Helper()
	paths := []string{"../onnxruntime"}
	for _, file := range libraries {
		paths = append(paths, filepath.Dir(file))
	}
	for _, folder := range []string{"torchshim", "jax", "tvmffi", "ufunc", "paddle"} {
		paths = append(paths, filepath.Join(written(t, "hosts"), "generated", folder))
	}
	cmd.Env = append(append(os.Environ(), "LIBRARY="+libraries[0], "PYTHONPATH="+strings.Join(paths, ":"),
		"SOURCE="+filepath.Join("testdata", "hosts", "kernels.go"), "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1"),
		env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Every host calls kernels in Go, with the classes and messages of kernels in C. Errors and panics
// in Go become exceptions of the host. In make nightly, the script imports the hosts itself, in two
// orders.
func TestEveryHostCallsKernelsInGo(t *testing.T) {
	file, _ := built(t, "hosts")
	if !testtool.Has(testtool.RequirePython(t), "torch", "jax", "tvm_ffi", "onnxruntime", "paddle") {
		t.Skip("needs torch, jax, tvm-ffi, onnxruntime and paddle: make setup")
	}
	called := func(order string, cmd *exec.Cmd) {
		out, err := output(t, cmd, []string{file}, nil)
		require.NoError(t, err, out)
		assert.Contains(t, out, "called by "+strings.ReplaceAll(order, ",", ", "))
	}
	first, python := strings.Join(hosts, ","), testtool.RequirePython(t)
	if !tier.IsNightly() {
		called(first, testkit.Forked(python, testkit.Frameworks, "-W", "ignore", "hosts.py", first))
		return
	}
	for _, order := range []string{first, "paddle,jax,torch,ufunc,onnxruntime,tvmffi,python"} {
		called(order, exec.Command(python, "-W", "ignore", "hosts.py", order))
	}
}

// Go receives every kind of argument, and returns every kind of result.
func TestArguments(t *testing.T) {
	file, _ := built(t, "args")
	out, err := says(t, []string{file}, nil, "args.py")
	require.NoError(t, err, out)
}

// Calls of several threads are in Go concurrently, each with its own error, and leave no resources
// behind.
func TestThreads(t *testing.T) {
	file, _ := built(t, "hosts")
	out, err := says(t, []string{file}, nil, "threads.py")
	require.NoError(t, err, out)
}

// Two libraries, each with a Go runtime, work in one process.
func TestTwoLibraries(t *testing.T) {
	one, _ := built(t, "hosts")
	other, _ := built(t, "args")
	out, err := says(t, []string{one, other}, nil, "two.py")
	require.NoError(t, err, out)
}

// A nil pointer is a panic if Go's SIGSEGV handler is the last one: with tvm-ffi imported before
// the library, or with the handler restored, which kernels_tvmffi.py does. If tvm-ffi is imported
// later, its handler ends the process.
func TestNilPointersBesideTVMFFI(t *testing.T) {
	file, _ := built(t, "hosts")
	if !testtool.Has(testtool.RequirePython(t), "tvm_ffi") {
		t.Skip("needs tvm-ffi: make setup")
	}
	env := []string{"TVM_FFI_DISABLE_TORCH_C_DLPACK=1"} // it would import torch
	for _, order := range []string{"before", "restored", "through"} {
		out, err := says(t, []string{file}, env, "signals.py", order)
		require.NoError(t, err, out)
		assert.Contains(t, out,
			"failing(): panic: runtime error: invalid memory address or nil pointer dereference, at ")
	}
	out, err := says(t, []string{file}, env, "signals.py", "after")
	assert.ErrorContains(t, err, "signal: segmentation fault", out)
	assert.NotContains(t, out, "failing(): panic")
}

// The line of tvm-ffi's source that replaces the handler, in a constructor.
func TestTVMFFIReplacesTheHandler(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "tvm_ffi") {
		t.Skip("needs tvm-ffi: make setup")
	}
	text, err := os.ReadFile(filepath.Join(testtool.RequirePackage(t, python, "tvm_ffi", "make setup"),
		"src/ffi/backtrace.cc"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "__attribute__((constructor)) void TVMFFIInstallSignalHandler() {\n"+
		"  // this may override already installed signal handlers\n  std::signal(SIGSEGV, TVMFFISegFaultHandler);\n")
}

// A function without the described signature does not compile, and the error names it.
func TestSignaturesThatDrift(t *testing.T) {
	slow(t)
	dir := t.TempDir() // one folder, so packages are built once
	require.NoError(t, os.CopyFS(dir, os.DirFS(written(t, "hosts"))))
	kernels := filepath.Join(dir, "kernels.go")
	text, err := os.ReadFile(kernels)
	require.NoError(t, err)
	//mutants:in tests/gokernels/testdata/hosts/kernels.go
	for name, drift := range map[string]struct{ old, fresh, want string }{
		"another type":     {"parties int64", "parties int32", "cannot use functions.Meet"},
		"fewer parameters": {"Empty(_, _, _, _ dlpack", "Empty(_, _, _ dlpack", "cannot use functions.Empty"},
		"no such function": {"func Norm[T", "func norm[T", "undefined: functions.Norm"},
		"fewer dtypes":     {"float32 | float64](", "float32](", "float64 does not satisfy float32"},
	} {
		if name != "another type" && !tier.IsNightly() {
			continue
		}
		require.NoError(t, os.WriteFile(kernels, text, 0o600))
		mutant.OnceIn(t, kernels, drift.old, drift.fresh)
		out, err := testkit.Vet(dir, environment(t), "./generated/gokernels")
		assert.Error(t, err, name)
		assert.Contains(t, out, drift.want, name)
	}
}

// The time of a trampoline is printed for docs/benchmarks.md; it is not limited, because load
// affects it.
func TestOverhead(t *testing.T) {
	file, _ := built(t, "hosts")
	out, err := says(t, []string{file}, nil, "overhead.py")
	require.NoError(t, err, out)
	assert.Regexp(t, `^Go \d+ ns, C \d+ ns, ratio \d+\.\d+, -?\d+ ns more\n$`, out)
	t.Log(out)
}
