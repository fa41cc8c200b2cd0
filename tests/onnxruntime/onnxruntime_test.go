// Package onnxruntime calls described kernels from ONNX Runtime, compared with the Python module
// from the same description and in the same library.
package onnxruntime

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

const source = "onnxruntime/kernels_onnxruntime.c"

// builder has Python with ONNX Runtime, its headers, and a build folder.
type builder struct{ python, headers, author, dir string }

// prepare finds ONNX Runtime and generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("builds libraries for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "onnxruntime", "numpy") {
		t.Skip("needs onnxruntime and numpy: make setup")
	}
	author, err := filepath.Abs("testdata/author.c")
	require.NoError(t, err)
	b := builder{python, testtool.RequireHeaders(t, python), author, t.TempDir()}
	testkit.Generate(t, "testdata/dlpackgen.yaml", b.dir)
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "tried"), 0o700))
	return b
}

func (b builder) library() string { return filepath.Join(b.dir, "tried/_kernels.abi3.so") }

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// build builds one library with the Python module and the operators.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{testkit.Level(), "-g", "-DPy_LIMITED_API=0x030B0000", "-Ipython", "-isystem", b.headers,
		"-o",
		b.library(), "python/_kernels.c"}, flags...)
	b.compile(t, args...)
}

// compile compiles the operators, the kernels and their checks.
func (b builder) compile(t *testing.T, args ...string) {
	t.Helper()
	b.run(t, testtool.RequireCompiler(t, "gcc", "gcc"),
		append([]string{"-std=c11", "-fPIC", "-shared", "-fvisibility=hidden",
			"-Ic", "-Ikernels", source, "kernels/kernels.c", b.author}, args...)...)
}

func (b builder) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return testkit.RunIn(t, b.dir, name, args...)
}

// called runs the tests in Python.
func (b builder) called(env ...string) (string, error) {
	cmd := exec.Command(b.python, "called.py")
	cmd.Env = append(append(os.Environ(), env...), "LIBRARY="+b.library(), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+b.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The source compiles without warnings, and each operator has the results and messages of the
// module.
func TestOperators(t *testing.T) {
	b := prepare(t)
	b.build(t, warnings...)
	out, err := b.called()
	require.NoError(t, err, out)
	assert.Contains(t, out, " tests")
}

// The same library works with other versions.
func TestOtherONNXRuntime(t *testing.T) {
	pythons := strings.Fields(os.Getenv("DLPACKGEN_ONNXRUNTIMES"))
	if len(pythons) == 0 {
		t.Skip("needs other versions of ONNX Runtime: make hosts")
	}
	b := prepare(t)
	b.build(t)
	for _, b.python = range pythons {
		out, err := b.called()
		require.NoError(t, err, out)
		t.Log(out)
	}
}

// UndefinedBehaviorSanitizer and AddressSanitizer report no errors.
func TestSanitized(t *testing.T) {
	b := prepare(t)
	b.build(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
	// With libstdc++, whose exceptions AddressSanitizer looks up when it starts.
	libraries, err := exec.Command("sh", "-c",
		"echo $(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)").Output()
	require.NoError(t, err)
	out, err := b.called("LD_PRELOAD="+strings.TrimSpace(string(libraries)), "ASAN_OPTIONS=detect_leaks=0")
	require.NoError(t, err, out)
}

// The library with only the operators needs only libc, and exports one function.
func TestNeedsLibcAlone(t *testing.T) {
	b := prepare(t)
	b.compile(t, append(warnings, "-O2", "-Wl,-z,defs", "-o", "plain.so")...)
	var needed []string
	for _, line := range strings.Split(b.run(t, testtool.Require(t, "readelf", "binutils"), "-d", "plain.so"), "\n") {
		if strings.Contains(line, "(NEEDED)") {
			needed = append(needed, line)
			assert.Regexp(t, `\[(libc|libm)\.so\.6\]`, line)
		}
	}
	assert.NotEmpty(t, needed)
	exported := strings.Fields(b.run(t, testtool.Require(t, "nm", "binutils"), "-D", "--defined-only", "plain.so"))
	require.Len(t, exported, 3)
	assert.Equal(t, "RegisterCustomOps", exported[2])
}

// mistakes break the generated source in one place each.
var mistakes = map[string][2]string{
	"integers are no floats": {"if (is_integer) return DLPACKGEN_STATUS_OK;", ""},
	"every integer is a bool": {
		"return is_integer && (value->integer == 0 || value->integer == 1) ? DLPACKGEN_STATUS_OK : -1;",
		"return is_integer ? DLPACKGEN_STATUS_OK : -1;"},
	"texts end at a NUL": {"if (size == 0 || strlen(value->text) == size - 1) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"floats are not widened":      {"memcpy(&reals[i], &wide, sizeof wide);", ""},
	"floats are widened in turn":  {"for (size_t i = count; i-- > 0;)", "for (size_t i = 0; i < count; i++)"},
	"other types are missing":     {"if (type) return dlpackgen_bad_type(&attribute->site, expected[attribute->kind], type, message);", ""},
	"what is missing is 0":        {"if (attribute->required)", "if (0)"},
	"defaults are 0":              {"value->real = attribute->real;", ""},
	"texts have no default":       {"value->text = attribute->text;", ""},
	"None is a value":             {"value->there = attribute->there;", ""},
	"mistakes of attributes pass": {"if (!status) { *kernel = node; return NULL; }", "*kernel = node; return NULL;"},
	"every input is there": {
		"return dlpackgen_ort_of(op)->inputs[i] ? DLPACKGEN_ONNXRUNTIME_OPTIONAL : DLPACKGEN_ONNXRUNTIME_REQUIRED;",
		"return DLPACKGEN_ONNXRUNTIME_REQUIRED;"},
	"every error is a failure": {"return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_INVALID_ARGUMENT, text);",
		"return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_FAIL, text);"},
	"nothing is unimplemented": {"return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_NOT_IMPLEMENTED, text);",
		"return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_FAIL, text);"},
	"what is left out is an error": {"if (!optional)", "if (1)"},
	"strides are not set": {"(void)dlpackgen_compact_strides(ndim, made->shape, made->strides);",
		"memset(made->strides, 0, sizeof made->strides);"},
	"domains are one": {"if (strcmp(all[i]->domain, name) == 0)", "if (i == 0)"},
}

// Each mistake fails a test.
func TestMistakesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	names, all := mutation.Rows(source, mistakes)
	written := mutation.Write(t, b.dir, all)
	b.build(t, written.Flags...)
	for i, name := range append([]string{"none"}, names...) {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, written.Apart, i, "it is not a statement or an expression")
			out, err := b.called(mutation.Env(i))
			assert.Equal(t, name == "none", err == nil, out)
		})
	}
}

func TestEveryMistakeHasItsText(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/dlpackgen.yaml", dir)
	names, all := mutation.Rows(source, mistakes)
	for i, m := range all {
		t.Run(names[i], func(t *testing.T) { m.Require(t, dir) })
	}
}
