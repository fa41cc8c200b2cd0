// Package bindings tests the headers that bind C++ functions over tensors in modules of nanobind
// and pybind11: the module of docs/cpp.md and a module with functions of every kind, called from
// Python with arrays of NumPy, torch and JAX.
package bindings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "bindings")) }

// binder is a library for bindings.
type binder struct{ name, macro, more string }

var binders = []binder{{"nanobind", "NB_MODULE", "-DWITH_NANOBIND"}, {"pybind11", "PYBIND11_MODULE", "-DWITH_PYBIND11"}}

// compiler is a compiler with its tested standards.
type compiler struct {
	program, debian, standard string
	flags                     []string
}

var (
	gcc   = compiler{"g++", "g++", "-std=c++17", []string{"-O0"}}
	clang = compiler{"clang++-16", "clang-16", "-std=c++17", []string{"-O0"}}
)

// strict are the flags of a careful project. nanobind's macros end in a semicolon.
var strict = []string{"-Wall", "-Wextra", "-Wshadow", "-Werror"}

// includes are the include folders: this project's as -I, others' as system folders.
func (b binder) includes(t *testing.T, ours ...string) (flags []string) {
	t.Helper()
	python := testtool.RequirePython(t)
	headers := testtool.RequireHeaders(t, python)
	if _, err := os.Stat("/usr/include/eigen3/Eigen/Core"); err != nil {
		t.Skip("needs Eigen: apt-get install libeigen3-dev")
	}
	for _, folder := range ours {
		flags = append(flags, "-I", folder)
	}
	return append(flags, "-isystem", "/usr/include/eigen3", "-isystem", headers,
		"-isystem", filepath.Join(testtool.RequirePackage(t, testtool.RequirePython(t), b.name, "make setup"),
			"include"))
}

// generated are the committed folders for vendoring.
func generated(t *testing.T) []string {
	t.Helper()
	return []string{filepath.Join(golden.Root(t), "gen", "c"), filepath.Join(golden.Root(t), "gen", "cpp")}
}

// runtime compiles the sources with which a module is linked: nanobind's own.
func (b binder) runtime(t *testing.T) []string {
	t.Helper()
	if b.name != "nanobind" {
		return nil
	}
	folder := testtool.RequirePackage(t, testtool.RequirePython(t), b.name, "make setup")
	dir := testkit.Built(t, "nanobind", func(dir string) {
		args := append([]string{"-std=c++17", testkit.Level(), "-w", "-c", "-fPIC", "-fvisibility=hidden", "-DNDEBUG",
			"-fno-strict-aliasing", "-I", filepath.Join(folder, "ext", "robin_map", "include"),
			"-o", filepath.Join(dir, "nanobind.o")}, b.includes(t)...)
		testkit.Run(t, testtool.RequireRunCompiler(t, "g++"),
			append(args, filepath.Join(folder, "src", "nb_combined.cpp"))...)
	})
	return []string{filepath.Join(dir, "nanobind.o")}
}

// example is the module of the page, with a library's terms.
func (b binder) example(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "cpp.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```cpp bindings\n")
	require.True(t, found, "docs/cpp.md has the example")
	text, _, _ := strings.Cut(rest, "```")
	return strings.NewReplacer("nanobind.hpp", b.name+".hpp", "NB_MODULE", b.macro).Replace(text)
}

// build compiles both modules of a library with the given headers.
func (b binder) build(t *testing.T, dir string, c compiler, ours []string) {
	t.Helper()
	program := testtool.RequireCompiler(t, c.program, c.debian)
	example := filepath.Join(dir, "three.cpp")
	require.NoError(t, os.WriteFile(example, []byte(b.example(t)), 0o600))
	base := append([]string{c.standard, "-shared", "-fPIC", "-fvisibility=hidden"}, c.flags...)
	base = append(append(base, strict...), b.includes(t, ours...)...)
	run := func(more ...string) { testkit.Run(t, program, append(append([]string{}, base...), more...)...) }
	run(append([]string{"-o", filepath.Join(dir, "three.so"), example}, b.runtime(t)...)...)
	base = append(base, "-o", filepath.Join(dir, "more.so"), b.more, "module/more.cpp", b.base(t, c, dir, ours[0]))
	run(b.runtime(t)...)
}

// base compiles the base as a separate file, as in modules with several files.
func (b binder) base(t *testing.T, c compiler, dir, headers string) (object string) {
	t.Helper()
	object = filepath.Join(dir, "base.o")
	args := append([]string{"-std=c11", "-c", "-fPIC", "-fvisibility=hidden", "-o", object}, c.flags...)
	args = append(append(args, b.includes(t, headers)...), filepath.Join(headers, "dlpackgen_python.c"))
	testkit.Run(t, testtool.RequireCompiler(t, "gcc", "gcc"), args...)
	return object
}

// modules returns the modules of a library, which are built once.
func (b binder) modules(t *testing.T) string {
	t.Helper()
	with := clang
	if testtool.RunsGCC() {
		with = gcc
	}
	return testkit.Built(t, "modules-"+b.name, func(dir string) { b.build(t, dir, with, generated(t)) })
}

// script runs bindings.py over modules with the given libraries.
func script(t *testing.T, dir string, env []string, libraries ...string) (string, error) {
	t.Helper()
	args := append([]string{"bindings.py"}, libraries...)
	cmd := testkit.Forked(testtool.RequirePython(t), testkit.Modules(libraries...), args...)
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "JAX_PLATFORMS=cpu"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// passes expects all checks of the script to pass.
func passes(t *testing.T, dir string, env []string, libraries ...string) {
	t.Helper()
	out, err := script(t, dir, env, libraries...)
	require.NoError(t, err, out)
	assert.Regexp(t, `(?m)^[1-9]\d+ checks$`, out)
}

func TestCallsFromPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds four modules")
	}
	for _, b := range binders {
		t.Run(b.name, func(t *testing.T) { passes(t, b.modules(t), nil, "numpy") })
	}
}

// JAX arrays are never written.
func TestArraysOfFrameworks(t *testing.T) {
	if testing.Short() {
		t.Skip("imports torch and jax")
	}
	for _, b := range binders {
		for _, name := range []string{"torch", "jax"} {
			t.Run(b.name+" "+name, func(t *testing.T) {
				if b != binders[0] {
					tier.OnlyNightly(t)
				}
				if !testtool.Has(testtool.RequirePython(t), name) {
					t.Skipf("needs %s in .venv: make setup", name)
				}
				passes(t, b.modules(t), nil, name)
			})
		}
	}
}

// The maximum number of lines for three functions over Eigen.
const mostLines = 15

func TestThreeFunctionsTakeFewLines(t *testing.T) {
	for _, b := range binders {
		text := b.example(t)
		assert.LessOrEqual(t, strings.Count(text, "\n"), mostLines, text)
		assert.Equal(t, 3, strings.Count(text, "dlpackgen::def("))
	}
}

// Other compilers and standards report no warnings, and sanitizers report no errors.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	sanitized := []string{"-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	for _, b := range binders {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			b.build(t, dir, compiler{"g++", "g++", "-std=c++20", sanitized}, generated(t))
			out, err := exec.Command("gcc", "-print-file-name=libasan.so").Output()
			require.NoError(t, err)
			// Python does not link C++: the sanitizer must find libstdc++ before the first
			// exception.
			runtime, err := exec.Command("g++", "-print-file-name=libstdc++.so.6").Output()
			require.NoError(t, err)
			preload := strings.TrimSpace(string(out)) + " " + strings.TrimSpace(string(runtime))
			passes(t, dir, []string{"LD_PRELOAD=" + preload, "PYTHONMALLOC=malloc",
				"ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1"}, "numpy")
		})
	}
}

func TestClang(t *testing.T) {
	if testing.Short() {
		t.Skip("builds four modules")
	}
	for _, standard := range []string{"-std=c++17", "-std=c++20"} {
		for _, b := range binders {
			t.Run(b.name+" "+standard, func(t *testing.T) {
				tier.OnlyNightly(t)
				dir := t.TempDir()
				b.build(t, dir, compiler{"clang++-16", "clang-16", standard, []string{"-O1"}}, generated(t))
				passes(t, dir, nil, "numpy")
			})
		}
	}
}

// compiles runs a compiler over a source, without output.
func compiles(t *testing.T, b binder, c compiler, source string, more ...string) (string, error) {
	t.Helper()
	args := append([]string{"-x", "c++", c.standard, "-fsyntax-only", "-"}, strict...)
	args = append(append(args, b.includes(t, generated(t)...)...), more...)
	cmd := exec.Command(testtool.Require(t, c.program, c.debian), args...)
	cmd.Stdin = strings.NewReader(source)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Each header includes its dependencies; python.hpp works without exceptions.
func TestEachHeaderCompilesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles headers of nanobind and pybind11")
	}
	for _, c := range []compiler{gcc, {clang.program, clang.debian, "-std=c++20", nil}} {
		if c.program == clang.program && !tier.IsNightly() {
			continue
		}
		for _, b := range binders {
			out, err := compiles(t, b, c, "#include <dlpackgen/"+b.name+".hpp>\n")
			assert.NoError(t, err, out)
		}
		out, err := compiles(t, binders[0], c, "#include <dlpackgen/python.hpp>\n", "-fno-exceptions", "-fno-rtti")
		assert.NoError(t, err, out)
	}
}

func TestMisuseIsExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles six programs")
	}
	tests := map[string]string{
		`dlpackgen::def(m, "f", &f, "x");`: "each argument needs a name",
		`dlpackgen::def(m, "f", &f, "x", "n", library::call_guard<library::gil_scoped_release>());`: "use without_gil() instead",
		`dlpackgen::def(m, "f", &f, library::arg("x") = 1, "n");`:                                   "an argument that is a tensor has no default",
	}
	for _, b := range binders {
		if b != binders[0] && !tier.IsNightly() {
			continue
		}
		for call, says := range tests {
			out, err := compiles(t, b, gcc, "#include <dlpackgen/eigen.hpp>\n#include <dlpackgen/"+b.name+".hpp>\n"+
				"namespace library = "+b.name+";\nint f(dlpackgen::TensorView x, int n) { return x.ndim() + n; }\n"+
				"void define(library::module_& m) { "+call+" }\n", "-Wno-unused-result")
			assert.Error(t, err, "%s compiles", call)
			assert.Contains(t, out, says, call)
		}
	}
}

// The single header contains all parts if the libraries' headers are included before.
func TestTheSingleHeader(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles pybind11 and nanobind")
	}
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	files, err := cpp.Target.Emit(&emit.Model{Release: release, Options: map[string]string{"single": "true"}})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, files[0].Path), files[0].Data, 0o600))
	for _, b := range binders {
		text := strings.NewReplacer("#include <dlpackgen/eigen.hpp>",
			"#include <dlpackgen_python.h>\n#include <Eigen/Core>",
			"<dlpackgen/"+b.name+".hpp>", "<"+b.name+"/"+b.name+".h>\n#include <dlpackgen.hpp>").Replace(b.example(t))
		args := append([]string{"-x", "c++", "-std=c++17", "-fsyntax-only", "-", "-I", dir},
			append(strict, b.includes(t, generated(t)[0])...)...)
		cmd := exec.Command(testtool.Require(t, "g++", "g++"), args...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
}
