// Package torch tests gen/cpp/dlpackgen_torch with a real torch: scripts of this folder import the
// package that is built from it.
package torch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/emit/torch"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// torches is a Python's information about its torch.
type torches struct {
	Python   string // the program
	Root     string // the folder of the package torch
	Include  string // of Python
	Major    int
	Minor    int
	Patch    int
	Suffix   string // of extension modules
	Standard string // the minimum C++ version of its headers
}

// askTorch does not import torch, which takes seconds.
const askTorch = `
import importlib.metadata, importlib.util, json, re, sysconfig
version = importlib.metadata.version("torch")
major, minor, patch = map(int, re.match(r"(\d+)\.(\d+)\.(\d+)", version).groups())
root = importlib.util.find_spec("torch").submodule_search_locations[0]
print(json.dumps({"Root": root, "Include": sysconfig.get_path("include"), "Major": major, "Minor": minor,
    "Patch": patch, "Suffix": sysconfig.get_config_var("EXT_SUFFIX"),
    "Standard": "c++20" if minor >= 15 else "c++17"}))`

// environment finds torch and its headers, or skips the test.
func environment(t *testing.T) torches {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles against the headers of torch, and -short was given")
	}
	return torchOf(t, testtool.RequirePython(t))
}

// torchOf finds the torch of a Python, or skips the test.
func torchOf(t *testing.T, python string) torches {
	t.Helper()
	if !testtool.Has(python, "torch") {
		t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	out, err := testtool.Ask(python, askTorch)
	require.NoError(t, err)
	found := torches{Python: python}
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	if _, err := os.Stat(filepath.Join(found.Include, "Python.h")); err != nil {
		t.Skip("needs Python.h: apt-get install python3-dev")
	}
	return found
}

// name returns the module's name in the package.
func (to torches) name() string { return fmt.Sprintf("_torch_%d_%d_%d", to.Major, to.Minor, to.Patch) }

// flags are the flags of every compilation with torch; headers contains dlpackgen_torch.
func (to torches) flags(headers ...string) []string {
	args := []string{"-std=" + to.Standard, "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow", "-Werror"}
	for _, folder := range headers {
		args = append(args, "-I"+folder)
	}
	return append(args, "-isystem", filepath.Join(to.Root, "include"), "-isystem",
		filepath.Join(to.Root, "include/torch/csrc/api/include"),
		"-isystem", to.Include)
}

// build builds the package dlpackgen_torch from the sources in a folder, in another one.
func (to torches) build(t *testing.T, headers, dir string, flags ...string) error {
	t.Helper()
	sources := filepath.Join(headers, "dlpackgen_torch")
	folder := filepath.Join(dir, "dlpackgen_torch")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	text, err := os.ReadFile(filepath.Join(sources, "__init__.py"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "__init__.py"), text, 0o600))
	args := append(to.flags(headers, filepath.Join(golden.Root(t), "gen", "cpp"),
		filepath.Join(golden.Root(t), "gen", "c")), "-shared")
	args = append(append(args, flags...), "-o", filepath.Join(folder, to.name()+to.Suffix),
		filepath.Join(sources, "module.cpp"),
		"-L"+filepath.Join(to.Root, "lib"), "-ltorch_python", "-ltorch_cpu", "-lc10")
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// helper builds the parts of the scripts that Python cannot express, in a package's folder.
func helper(t *testing.T, dir string, flags ...string) {
	t.Helper()
	args := append([]string{"-std=c11", testkit.Level(), "-g1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
		"module/helper.c", "-lpthread", "-ldl",
		"-o", filepath.Join(dir, "helper.so")}, flags...)
	out, err := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// faults builds a simulated backend, in a package's folder.
func (to torches) faults(t *testing.T, dir string) {
	t.Helper()
	args := append(to.flags(), "-O0", "-shared", "module/errors.cpp", "-o", filepath.Join(dir, "faults.so"),
		"-L"+filepath.Join(to.Root, "lib"),
		"-lc10", "-ltorch_cpu")
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// devices returns a folder with the CUDA backend, its driver's stand-in under the driver's name,
// and a simulated torch backend.
func (to torches) devices(t *testing.T) string {
	t.Helper()
	devicesOnce.Do(func() {
		gcc, backend := testtool.RequireCompiler(t, "gcc", "gcc"),
			filepath.Join(golden.Root(t), "backends/cuda/dlpackgen_cuda.c")
		for _, args := range [][]string{
			{"-Wl,-soname,libcuda.so.1", "-o", filepath.Join(library, "libcuda.so.1"),
				"../devices/testdata/standin.c", "-lpthread"},
			{"-o", filepath.Join(library, "libdlpackgen_cuda.so"), backend, "-ldl"},
		} {
			out, err := exec.Command(gcc,
				append([]string{"-std=gnu11", "-O1", "-fPIC", "-shared"}, args...)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		to.faults(t, library)
		require.NoError(t, os.Setenv("DEVICES", library))
	})
	return library
}

var devicesOnce sync.Once

// generated is the folder of the committed sources.
func generated(t *testing.T) string { return filepath.Join(golden.Root(t), "gen", "cpp") }

// unfolded copies the sources to a folder, with each part of a header as a file.
func unfolded(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, os.CopyFS(folder, os.DirFS(generated(t))))
	testkit.WriteUnfoldedTarget(t, cpp.Target, folder)
	testkit.WriteUnfoldedTarget(t, torch.Target, folder)
}

// library is the folder of the package, which modules builds once.
var library string

var (
	buildOnce sync.Once
	errBuild  error
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dlpackgen-torch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	library = dir
	return m.Run()
}

// modules returns the folder with the package, and the information about its torch.
func modules(t *testing.T) (torches, string) {
	t.Helper()
	to := environment(t)
	buildOnce.Do(func() {
		errBuild = to.build(t, generated(t), library, testkit.Level(), "-include", afterMacros(t, library, false))
		helper(t, library)
		clients(t, to, library)
		to.devices(t)
	})
	require.NoError(t, errBuild)
	return to, library
}

// These scripts use other frameworks too.
const libraries, verdicts = "libraries.py", "verdicts.py"

func usesFrameworks(script string) bool { return script == libraries || script == verdicts }

// script runs a script of this folder with the package in a folder.
func script(to torches, dir string, env []string, args ...string) (string, error) {
	args = append([]string{"-W", "ignore"}, args...)
	before := testkit.Torch
	if slices.ContainsFunc(args, usesFrameworks) {
		before = testkit.Frameworks
	}
	cmd := testkit.Forked(to.Python, before, args...)
	if slices.Contains(args, "ending.py") {
		cmd = exec.Command(to.Python, args...)
	}
	// Freed memory is overwritten, so that later reads are detected.
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "JAX_PLATFORMS=cpu",
		"MALLOC_PERTURB_=165",
		"OMP_NUM_THREADS=1"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// eachPasses runs scripts, or tests of one, each in a separate process: torch is imported before.
func eachPasses(t *testing.T, to torches, dir string, env []string, each ...string) {
	t.Helper()
	args := []string{"../mutants.py", "torch"}
	for _, name := range each {
		if !usesFrameworks(name) {
			args = append(args, "0", name)
		}
	}
	out, err := script(to, dir, env, args...)
	require.NoError(t, err, out)
	printed := testkit.Verdicts(out)
	for _, name := range each {
		file, test, _ := strings.Cut(name, " ")
		t.Run(cmp.Or(test, file), func(t *testing.T) {
			if usesFrameworks(name) {
				passes(t, to, dir, env, name)
				return
			}
			out, isFine := printed["missed 0 "+name]
			require.True(t, isFine, printed["caught 0 "+name])
			if test != "" {
				assert.Contains(t, out, "ok "+test)
				return
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count("\n"+out, "\nok "), out)
		})
	}
}

// passes fails unless a script reports success for each of its tests.
func passes(t *testing.T, to torches, dir string, env []string, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	out, err := script(to, dir, env, name)
	require.NoError(t, err, out)
	assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count("\n"+out, "\nok "), out)
}

// afterMacros writes a header that includes the foreign headers of the sources, and then defines
// testkit.Macros. Compiling the sources after it shows that they work with these macros.
func afterMacros(t *testing.T, dir string, stable bool) (path string) {
	t.Helper()
	path = filepath.Join(dir, fmt.Sprintf("macros_%v.hpp", stable))
	text := testkit.Includes(testkit.ForeignOfTorch(t, golden.Root(t), stable)) +
		testkit.Definitions(slices.Sorted(maps.Keys(testkit.Macros))...)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
