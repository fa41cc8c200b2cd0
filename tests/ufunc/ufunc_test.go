// Package ufunc calls described kernels as NumPy ufuncs, compared with the Python module from the
// same description and in the same library.
package ufunc

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

const source = "ufunc/kernels_ufunc.c"

// builder has Python with NumPy, its headers, and a build folder.
type builder struct{ python, headers, author, dir string }

// prepare finds NumPy and generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("builds libraries for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "numpy") {
		t.Skip("needs numpy: make setup")
	}
	author, err := filepath.Abs("testdata/author.c")
	require.NoError(t, err)
	b := builder{python, testtool.RequireHeaders(t, python), author, t.TempDir()}
	testkit.Generate(t, "testdata/dlpackgen.yaml", b.dir)
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "tried"), 0o700))
	return b
}

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// build builds one library with the Python module and the loops, without NumPy.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{"-std=c11", testkit.Level(), "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-Ic",
		"-Ikernels",
		"-Ipython", "-isystem", b.headers, "-DPy_LIMITED_API=0x030B0000", source, "kernels/kernels.c",
		"python/_kernels.c", b.author, "-o", "tried/_kernels.abi3.so"}, flags...)
	testkit.RunIn(t, b.dir, testtool.RequireRunCompiler(t, "gcc"), append(args, "-lm")...)
}

// called runs the tests in Python.
func (b builder) called(env ...string) (string, error) {
	cmd := exec.Command(b.python, "called.py")
	cmd.Env = append(append(os.Environ(), env...), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+b.dir+":"+filepath.Join(b.dir, "ufunc"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The source compiles without warnings, and each ufunc has the results and messages of the module.
func TestUfuncs(t *testing.T) {
	b := prepare(t)
	b.build(t, warnings...)
	out, err := b.called()
	require.NoError(t, err, out)
	text, err := os.ReadFile("called.py")
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), out)
}

// The same library works with other versions.
func TestOtherNumPy(t *testing.T) {
	pythons := strings.Fields(os.Getenv("DLPACKGEN_NUMPYS"))
	if len(pythons) == 0 {
		t.Skip("needs other versions of NumPy: make hosts")
	}
	b := prepare(t)
	b.build(t)
	for _, b.python = range pythons {
		out, err := b.called()
		require.NoError(t, err, out)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		t.Log(lines[len(lines)-1])
	}
}

// UndefinedBehaviorSanitizer and AddressSanitizer report no errors.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	b.build(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
	// With libstdc++, whose exceptions AddressSanitizer looks up when it starts.
	libraries, err := exec.Command("sh", "-c",
		"echo $(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)").Output()
	require.NoError(t, err)
	out, err := b.called("LD_PRELOAD="+strings.TrimSpace(string(libraries)),
		"ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1")
	require.NoError(t, err, out)
}

// mistakes break the generated source in one place each.
var mistakes = map[string][2]string{
	"strides of cores are not checked": {"if (fits && dlpackgen_ufunc_fits(operand->layout, tensor)) return DLPACKGEN_STATUS_OK;",
		"if (fits) return DLPACKGEN_STATUS_OK;"},
	"parts of elements are strides": {"fits = fits && core[d] % item == 0;", ""},
	"alignment is not checked":      {"fits = !operand->align ||", "fits = 1 ||"},
	"steps are not aligned":         {"(uintptr_t)step % operand->align == 0", "1"},
	"columns are rows": {"const bool is_turned = operand->layout == DLPACKGEN_UFUNC_COLUMN_MAJOR;",
		"const bool is_turned = 0;"},
	"any order is one": {"case DLPACKGEN_UFUNC_ANY_ORDER: return dlpackgen_is_contiguous_any_order(tensor);",
		"case DLPACKGEN_UFUNC_ANY_ORDER: return dlpackgen_is_contiguous(tensor);"},
	"inner is contiguous": {"case DLPACKGEN_UFUNC_INNER: return dlpackgen_is_inner_contiguous(tensor);",
		"case DLPACKGEN_UFUNC_INNER: return dlpackgen_is_contiguous(tensor);"},
	"nothing is copied in": {"dlpackgen_ufunc_copy(&all[i], 0, all[i].passed, all[i].tensor.data, false);",
		";"},
	"nothing is copied out": {"if (all[o].block) dlpackgen_ufunc_copy(&all[o], 0, all[o].passed, all[o].tensor.data, true);",
		";"},
	"memory that is missing is there": {"if (made->block) return DLPACKGEN_STATUS_OK;\n  return dlpackgen_fail(message, &operand->site,",
		"return DLPACKGEN_STATUS_OK;\n  return dlpackgen_fail(message, &operand->site,"},
	"a loop stays at its first element": {"all[i].passed += loop->steps[i];", ""},
	"a loop goes on after an error": {"for (intptr_t i = 0; i < loop->sizes[0] && !status; i++) status = dlpackgen_ufunc_element(loop, all, &message);",
		"for (intptr_t i = 0; i < loop->sizes[0]; i++) status = dlpackgen_ufunc_element(loop, all, &message);"},
	"every loop is joined": {"bool fits = kernel->joins && loop->sizes[0] > 1;",
		"bool fits = loop->sizes[0] > 1;"},
	"no loop is joined": {"bool fits = kernel->joins && loop->sizes[0] > 1;", "bool fits = 0;"},
	"what varies is joined": {"if (!operand->is_leading) return step == 0;",
		"if (!operand->is_leading) return true;"},
	"gaps are joined": {"return dlpackgen_ufunc_fits(operand->layout, &made->tensor);",
		"return true;"},
	"what is not joined keeps the batch": {"for (int i = 0; i < led && !fits; i++)", "for (int i = 0; 0; i++)"},
	"outputs may overlap inputs":         {"all[o].is_shared = true;", ""},
	"neighbours overlap": {"low[0] < end[1] && low[1] < end[0]",
		"low[0] <= end[1] && low[1] <= end[0]"},
	"elements have no order": {"is_free = is_free && loop->passed[i] == loop->passed[o] && loop->steps[i] == loop->steps[o];",
		""},
	"copies of all elements are one": {"all[o].core = &loop->steps[o];", ""},
	"errors are ignored":             {"if (DLPACKGEN_RARE(status)) dlpackgen_ufunc_raise(status, text);", ""},
	"all errors are RuntimeErrors": {"PyErr_SetString(class, sentence)",
		"PyErr_SetString(PyExc_RuntimeError, sentence)"},
	"errors are raised without the GIL": {"const PyGILState_STATE state = PyGILState_Ensure();",
		"const PyGILState_STATE state = PyGILState_UNLOCKED;"},
	"results are not checked": {"if (!status_) status_ = dlpackgen_run_kernel_twice(",
		"status_ = dlpackgen_run_kernel_twice("},
	"bytes are bools": {"made.integer = *(const uint8_t*)data; break;\n    case DLPACKGEN_DTYPE(kDLInt, 8, 1)",
		"made.integer = 0; break;\n    case DLPACKGEN_DTYPE(kDLInt, 8, 1)"},
	"wide unsigned numbers are narrow": {"made.integer = (int64_t) * (const uint64_t*)data;",
		"made.integer = *(const int32_t*)data;"},
	"a second loop has the dtypes of one": {"(void*)(uintptr_t)dlpackgen_ufunc_dtypes_axpy[i]",
		"(void*)(uintptr_t)dlpackgen_ufunc_dtypes_axpy[0]"},
}

// mistakesInKernels break the checks, where the Python module hides what the ufuncs show.
var mistakesInKernels = map[string][2]string{
	"texts are UTF-8": {"dlpackgen_put_foreign(message, text);", "dlpackgen_put(message, text);"},
}

// rows returns all mistakes with their names.
func rows() (names []string, all []mutation.Mutant) {
	names, all = mutation.Rows(source, mistakes)
	more, inKernels := mutation.Rows("kernels/kernels.c", mistakesInKernels)
	return append(names, more...), append(all, inKernels...)
}

// Each mistake fails a test.
func TestMistakesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	names, all := rows()
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
	names, all := rows()
	for i, m := range all {
		t.Run(names[i], func(t *testing.T) { m.Require(t, dir) })
	}
}
