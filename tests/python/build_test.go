// Package python tests gen/c/dlpackgen_python with real Pythons: scripts of this folder import C
// modules that are built with it.
package python

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// strict are the flags of a careful project.
var strict = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// stable selects the ABI that is common to all Pythons from 3.11 on.
const stable = "-DPy_LIMITED_API=0x030B0000"

// inlined makes the scripts' modules begin all calls with inlined checks.
const inlined = "-DBEGIN=dlpackgen_call_begin_inline"

// generated is the folder with the headers.
func generated(t *testing.T) string { return filepath.Join(golden.Root(t), "gen", "c") }

// builder builds one extension module.
type builder struct {
	python, compiler string
	headers          string // the folder with dlpackgen_python.h
	suffix           string // of the module's file name
	flags            []string
}

func newBuilder(t *testing.T) builder {
	t.Helper()
	return builder{python: testtool.RequirePython(t), compiler: testtool.RequireRunCompiler(t, "gcc"),
		headers: generated(t),
		suffix:  ".abi3.so",
		flags:   append([]string{"-std=c11", testkit.Level(), stable}, strict...)}
}

// build compiles a module into a folder.
func (b builder) build(t *testing.T, dir, name string, sources ...string) {
	t.Helper()
	args := append([]string{"-shared", "-fPIC", "-fvisibility=hidden", "-I", b.headers, "-isystem",
		testtool.RequireHeaders(t, b.python),
		"-o", filepath.Join(dir, name+b.suffix)}, b.flags...)
	out, err := exec.Command(b.compiler, append(args, sources...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// library is the folder of the modules, which modules builds once.
var library string

var buildOnce sync.Once

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dlpackgen-python")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	library = dir
	return m.Run()
}

// modules returns a folder with the modules that the scripts import.
func modules(t *testing.T) string {
	t.Helper()
	b := newBuilder(t)
	testtool.RequireHeaders(t, b.python)
	buildOnce.Do(func() {
		b.build(t, library, "checked", "module/checked.c")
		b.build(t, library, "untrusted", "module/untrusted.c")
	})
	require.FileExists(t, filepath.Join(library, "untrusted.abi3.so"), "the modules could not be built")
	return library
}

// Without warnings, as C and as C++, as a separate file and inside a module.
func TestTheCIsClean(t *testing.T) {
	headers := testtool.RequireHeaders(t, testtool.RequirePython(t))
	for _, test := range []struct{ compiler, debian, language, standard string }{
		{"gcc", "gcc", "c", "c11"}, {"g++", "g++", "c++", "c++17"}, {"clang-16", "clang-16", "c", "c11"},
		{"clang-16", "clang-16", "c++", "c++17"},
	} {
		for _, limited := range []string{stable, "-DNOTHING"} {
			t.Run(strings.Join([]string{test.compiler, test.standard, limited}, " "), func(t *testing.T) {
				if testing.Short() && (test.compiler != "gcc" || limited != stable) {
					t.Skip("compiles for some seconds, and -short was given")
				}
				compiler := testtool.Require(t, test.compiler, test.debian)
				args := append([]string{"-x", test.language, "-std=" + test.standard, optimized(test.compiler, limited),
					limited, "-I", generated(t), "-isystem", headers,
					"-fPIC", "-c", "-o", filepath.Join(t.TempDir(), "x.o")}, strict...)
				out, err := exec.Command(compiler,
					append(args, filepath.Join(generated(t), "dlpackgen_python.c"))...).CombinedOutput()
				assert.NoError(t, err, "%s", out)
			})
		}
	}
}

// optimized enables optimization, with which GCC finds more warnings; make test does so for one API
// of Python. Clang's optimizer has none, and takes 15 seconds per module.
func optimized(compiler, limited string) string {
	if compiler == "clang-16" || limited != stable && !tier.IsNightly() {
		return "-O0"
	}
	return "-O1"
}

// A module of one file with inlined checks also compiles without warnings.
func TestAModuleIsClean(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	headers := testtool.RequireHeaders(t, testtool.RequirePython(t))
	for _, test := range []struct{ compiler, debian, language, standard string }{
		{"g++", "g++", "c++", "c++17"}, {"clang-16", "clang-16", "c", "c11"}, {"clang-16", "clang-16", "c++", "c++17"},
	} {
		t.Run(test.compiler+" "+test.standard, func(t *testing.T) {
			compiler := testtool.Require(t, test.compiler, test.debian)
			args := append([]string{"-x", test.language, "-std=" + test.standard, optimized(test.compiler, stable),
				stable, inlined, "-I", generated(t), "-isystem", headers,
				"-fPIC", "-c", "-o", filepath.Join(t.TempDir(), "x.o")}, strict...)
			out, err := exec.Command(compiler, append(args, "module/checked.c")...).CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
}

// names returns the dynamic symbols of a module, defined or undefined.
func names(t *testing.T, file, which string) []string {
	t.Helper()
	out, err := exec.Command(testtool.Require(t, "nm", "binutils"), "--dynamic", which, "--format=just-symbols",
		file).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// A module uses only Python's stable ABI: the compiler knew no other functions, and names with a
// leading underscore come from macros of Python.h. It exports only its PyInit, even if it consists
// of several files.
func TestSymbols(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module, and -short was given")
	}
	dir := t.TempDir()
	b := newBuilder(t)
	several := filepath.Join(dir, "several.c")
	require.NoError(t, os.WriteFile(several, []byte("#include <dlpackgen_python.h>\n"+
		"PyMODINIT_FUNC PyInit_several(void) {\n\tstatic struct dlpackgen_module module;\n"+
		"\treturn dlpackgen_module_init(&module, \"several\", \"\", NULL, NULL);\n}\n"), 0o600))
	b.build(t, dir, "several", several, filepath.Join(generated(t), "dlpackgen_python.c"))
	for name, file := range map[string]string{"checked": filepath.Join(modules(t), "checked.abi3.so"),
		"several": filepath.Join(dir, "several.abi3.so")} {
		for _, symbol := range names(t, file, "--undefined-only") {
			if strings.HasPrefix(symbol, "_Py") {
				assert.Contains(t, []string{"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct"},
					symbol)
			}
		}
		assert.Equal(t, []string{"PyInit_" + name}, names(t, file, "--defined-only"))
	}
}

// misdescribed has one function with a valid description, and one with an invalid one.
const misdescribed = `#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>
static const struct dlpackgen_parameter one[] = {{.name = "x"}};
static const struct dlpackgen_parameter two[] = {{.name = "x"}, {.name = "y", .same_dtype_as = 3}};
static const struct dlpackgen_function right = {DLPACKGEN_FUNCTION("right", one)};
static const struct dlpackgen_function wrong = {DLPACKGEN_FUNCTION("wrong", two)};
static const struct dlpackgen_function* const functions[] = {&right, LISTED NULL};
PyMODINIT_FUNC PyInit_described(void) {
  static struct dlpackgen_module module = {.functions = functions};
  return dlpackgen_module_init(&module, "described", "", NULL, NULL);
}
`

func TestFunctionsAreCheckedAtImport(t *testing.T) {
	for listed, want := range map[string]string{"": "",
		"&wrong,": "SystemError: wrong(): argument 'y' (2nd): its same_dtype_as is 3"} {
		dir, b := t.TempDir(), newBuilder(t)
		source := filepath.Join(dir, "described.c")
		require.NoError(t, os.WriteFile(source, []byte(mutation.Once(t, misdescribed, "LISTED", listed)), 0o600))
		b.flags = append(slices.Clone(b.flags), "-Wno-unused-variable")
		b.build(t, dir, "described", source)
		cmd := exec.Command(b.python, "-c", "import described")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		assert.Equal(t, want == "", err == nil, "%s", out)
		assert.Contains(t, string(out), want)
	}
}
