package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// module builds the module of the generated files in a folder, and returns its import folder.
func module(t *testing.T, python, dir string, flags ...string) string {
	t.Helper()
	return moduleOf(t, python, dir, "testdata/author.c", flags...)
}

// moduleOf builds it with the functions of a file.
func moduleOf(t *testing.T, python, dir, author string, flags ...string) string {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "tried"), 0o700))
	stub, err := os.ReadFile(filepath.Join(dir, "python/_kernels.pyi"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "tried/_kernels.pyi"), stub, 0o600))
	args := append([]string{"-std=c11", testkit.Level(), "-g", "-fPIC", "-shared", "-DPy_LIMITED_API=0x030B0000",
		"-I" + dir + "/c", "-I" + dir + "/python", "-I" + dir + "/kernels", "-isystem",
		testtool.RequireHeaders(t, python),
		"-o", filepath.Join(home, "tried/_kernels.abi3.so")}, flags...)
	args = append(args, dir+"/python/_kernels.c", dir+"/kernels/kernels.c", author, "-pthread")
	out, err := exec.Command(testtool.RequireRunCompiler(t, "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return home
}

// runs calls the kernels from Python, with the mutant of a number.
func runs(python, home string, mutant int, libraries ...string) (string, error) {
	return runsWith(python, home, []string{mutation.Env(mutant)}, libraries...)
}

func runsWith(python, home string, env []string, libraries ...string) (string, error) {
	var all string
	for _, script := range []string{"called.py", "attacked.py"} {
		cmd := exec.Command(python, script)
		if len(libraries) > 0 { // not under a sanitizer
			cmd = testkit.Forked(python, testkit.Modules(libraries...),
				append([]string{script}, libraries...)...)
		}
		cmd.Env = append(append(os.Environ(), "PYTHONPATH="+home), env...)
		out, err := cmd.CombinedOutput()
		if all += string(out); err != nil {
			return all, err
		}
	}
	return all, nil
}

// The module compiles without warnings, and every function implements its description.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	home := module(t, python, dir, "-Wall", "-Wextra", "-Werror")
	var libraries []string
	if testtool.Has(python, "torch") {
		libraries = append(libraries, "torch")
	}
	out, err := runs(python, home, 0, libraries...)
	require.NoError(t, err, out)
	assert.Contains(t, out, " tests")
}

// Neither AddressSanitizer nor UndefinedBehaviorSanitizer reports an error in the module.
func TestPythonSanitized(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	flags, preload := testkit.RequireSanitizers(t)
	home := module(t, python, dir, flags...)
	env := []string{"LD_PRELOAD=" + preload,
		"ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1"}
	out, err := runsWith(python, home, env)
	require.NoError(t, err, out)
}

// pythonMistakes are in the module's own C; for the base, see tests/python.
//
//mutants:in templates/kernels/python/values.h
var pythonMistakes = map[string]mistake{
	"bools of NumPy are floats": {"if (truth < 2) *plain", "if (truth < 0) *plain"},
	"integers are floats": {"PyObject* read = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;",
		"PyObject* read = NULL;"},
	"__index__ is called again for the message": {
		"if (!PyLong_Check(value) && PyIndex_Check(value) && !PyType_GetSlot(Py_TYPE(value), Py_nb_float)) {",
		"if (0) {"},
	"integers are cut": {"if (*number >= (is_signed ? -above : 0) && *number < above) return 0;",
		"return 0;"},
	"floats are cut":     {"*number - *number != 0 || (*number <= most && *number >= -most)", "1"},
	"texts end at a NUL": {"if (strlen(*text) == (size_t)length) return 0;", "return 0;"},
	"nothing is copied":  {"if (dlpackgen_is_contiguous(from) || item == 0) return 0;", "return 0;"},
	"lists leak":         {"Py_DECREF(items);", ""},
	"lists are read as they are": {"PyObject* const items = PySequence_Tuple(value);",
		"PyObject* const items = Py_NewRef(value);"},
	"numbers are read too late":  {"if (!value) return 0;", "if (value) *plain = Py_NewRef(value); return 0;"},
	"plain numbers are anything": {"return dlpackgen_other_kind(call, i, value, dtype); }", "return 0; }"},
	"any dtype is copied":        {"if (!dlpackgen_accepts_dtype(p, dlpackgen_dtype_of(from))) return 0;", ""},
	"half pairs name no argument": {"if (!*text && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;",
		"if (!*text) return -1;"},
	"devices have no stream": {"return !elsewhere || dlpackgen_settles_at_once(call);", "return 1;"},
	"streams of any device": {
		"if (dlpackgen_is_cpu_only(p) || !dlpackgen_is_placed_at_once(a, p, &means)) return 0;",
		"(void)dlpackgen_is_placed_at_once(a, p, &means);"},
	"scalars are read as tensors": {"if (DLPACKGEN_RARE(!dlpackgen_reads_unchecked(call, i, p, passed[i], &means))) return 0;", ""},
}

// basicPythonMistakes are in the parts of the base that kernel modules use.
//
//mutants:in templates/python/*.h templates/c/copy.h
var basicPythonMistakes = map[string]mistake{
	"negative strides are lost": {"from + i * t->strides[dimension] * (int64_t)item",
		"from + i * (t->strides[dimension] < 0 ? 0 : t->strides[dimension]) * (int64_t)item"},
	"a name may come twice":        {"if (i < 0 || passed[i] != NULL) {", "if (i < 0) {"},
	"surplus arguments are lost":   {"if (count > names->positional)", "if (0)"},
	"demands are checked too soon": {"if (call->private_.site->checks_itself)", "if (0)"},
	"allocators change nothing":    {"else if (ran_code && dlpackgen_check_again(call))", "else if (0)"},
	"large integers are accepted":  {"return dlpackgen_out_of_range(call, i, dtype, value);", "return 0;"},
	"__index__ is called twice": {"if (!index) return dlpackgen_no_index(call, i, value, expected);",
		"if (!index || !PyNumber_Index(value)) return dlpackgen_no_index(call, i, value, expected);"},
	"all digits are printed": {"return count < 1024 ? PyNumber_ToBase(number, 10)",
		"return count < 1 << 30 ? PyNumber_ToBase(number, 10)"},
}

// Each mistake fails a test of a script.
func TestMistakesAreSeenFromPython(t *testing.T) {
	tier.OnlyNightly(t)
	python := testtool.RequirePython(t)
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	f := flaw(t, dir, in("python/_kernels.c", pythonMistakes), in("python/dlpackgen_python.c", basicPythonMistakes))
	home := module(t, python, dir, append(f.Flags, "-O0")...)
	out, err := runs(python, home, 0)
	require.NoError(t, err, out)
	f.each(t, func(t *testing.T, number int) {
		out, err := runs(python, home, number)
		assert.Error(t, err, out)
	})
}
