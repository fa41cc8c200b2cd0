// Package gopy holds package dlpackpy against real Pythons and the frameworks in
// them: scripts of this folder import a module written in Go.
package gopy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/need"
)

// library is the folder of the module, built once.
var library string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gopy")
	if err == nil {
		defer os.RemoveAll(dir)
		library = dir
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build makes gopy.so in a folder.
func build(dir string, flags ...string) error {
	args := append([]string{"build", "-buildmode=c-shared", "-o", filepath.Join(dir, "gopy.so")}, flags...)
	out, err := exec.Command("go", append(args, "./module")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the module: %w\n%s", err, out)
	}
	return nil
}

// needLinux skips where the scripts cannot measure memory by /proc.
func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the scripts measure memory by /proc")
	}
}

// environment gives the Python with the frameworks, or skips.
func environment(t *testing.T) string {
	t.Helper()
	needLinux(t)
	return need.Python(t)
}

// script runs a script with the module that lies in a folder. Warnings of
// frameworks, such as that there is no GPU, are left out.
func script(python, library string, args ...string) (string, error) {
	cmd := exec.Command(python, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(os.Environ(), "GOPY="+library, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var skipped = regexp.MustCompile(`(?m)^SKIP (.*)$`)

// runs fails unless a script says that so many of its tests passed, and no other.
func runs(t *testing.T, python string, passes int, args ...string) {
	t.Helper()
	out, err := script(python, library, args...)
	if reason := skipped.FindStringSubmatch(out); reason != nil {
		t.Skip(reason[1])
	}
	require.NoError(t, err, out)
	assert.Equal(t, passes, len(regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1)), out)
}

// The first Python that the module serves is 3.10; one file serves all of them.
func TestEveryPythonHere(t *testing.T) {
	needLinux(t)
	for i, python := range pythons(t) {
		t.Run(python.version, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("takes a second for each Python, and -short was given")
			}
			runs(t, python.path, 34, "plain.py")
			runs(t, python.path, 5, "odd.py")
		})
	}
}

// The Pythons of `make pythons`, where debug builds abort when Python's API is called
// with an exception set.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	for _, python := range others {
		for script, passes := range map[string]int{"plain.py": 34, "odd.py": 5, "attack.py": 3} {
			t.Run(filepath.Base(python)+" "+script, func(t *testing.T) { runs(t, python, passes, script) })
		}
	}
}

type python struct{ version, path string }

// pythons finds one Python of each version that the module serves.
func pythons(t *testing.T) (found []python) {
	t.Helper()
	candidates := []string{environment(t), "python3"}
	for minor := 10; minor <= 15; minor++ {
		candidates = append(candidates, fmt.Sprintf("python3.%d", minor))
	}
	known := map[string]bool{}
	for _, path := range candidates {
		out, err := exec.Command(path, "-c", "import sys; sys.version_info >= (3, 10) and print('%d.%d' % sys.version_info[:2])").Output()
		version := strings.TrimSpace(string(out))
		if err == nil && version != "" && !known[version] {
			known[version] = true
			found = append(found, python{version, path})
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestFrameworks(t *testing.T) {
	python := environment(t)
	for name, passes := range map[string]int{"numpy": 18, "torch": 17, "jax": 8, "paddle": 11, "tvm_ffi": 6} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "numpy" {
				t.Skip("loads a large framework, and -short was given")
			}
			runs(t, python, passes, "with_"+name+".py")
		})
	}
}

// Hostile code at every place where reading an argument runs code of Python.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch and makes thousands of calls, and -short was given")
	}
	runs(t, environment(t), 3, "attack.py")
}

// Who outlives whom when Python ends is decided by nobody, so every order is
// tried: none may crash, hang, or take a thread away from Go.
func TestEndings(t *testing.T) {
	python := environment(t)
	for how, says := range map[string]string{
		"holding": "end of holding\n", "held": "end of held\n", "late": "end of late\nlate\n",
		"after": "end of after\nreleased after the end\n", "daemon": "end of daemon\nall there\n",
	} {
		for _, with := range []string{"", "numpy", "torch", "jax", "paddle"} {
			if how == "late" && with == "jax" {
				continue // its own __dlpack__ needs an import, which fails then
			}
			t.Run(how+" "+with, func(t *testing.T) {
				if testing.Short() && with != "" {
					t.Skip("loads a large framework, and -short was given")
				}
				out, err := script(python, library, strings.Fields("ending.py "+how+" "+with)...)
				if reason := skipped.FindStringSubmatch(out); reason != nil {
					t.Skip(reason[1])
				}
				require.NoError(t, err, out)
				assert.Contains(t, out, says)
			})
		}
	}
}

// Outside of Python there is nothing to be a module of.
func TestWithoutPython(t *testing.T) {
	needLinux(t)
	if testing.Short() {
		t.Skip("builds a program in Go, and -short was given")
	}
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("go", "build", "-o", program, "./module").CombinedOutput()
	require.NoError(t, err, "it links without Python too: %s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "no module\n", string(out))
}

// The scripts find what they are for: each of these makes the package wrong in
// one place.
func TestTheScriptsFindWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the module for each mistake, and -short was given")
	}
	python := environment(t)
	for name, test := range map[string]struct{ file, old, replacement, script string }{
		"an inherited table is used":          {"take.c", "entry ? optional(type, name) : NULL", "optional(type, name)", "plain.py test_a_table_is_for_one_type"},
		"a table is used for other types":     {"give.c", "if (of != type)", "if (!of)", "plain.py test_a_table_is_for_one_type"},
		"negated values are taken":            {"take.c", "if (negated > 0)", "if (negated > 1)", "plain.py test_values_that_are_not_in_memory"},
		"gradients are forgotten":             {"take.c", "if (required > 0) *flags", "if (required > 1) *flags", "plain.py test_gradients"},
		"old producers are refused":           {"take.c", "py.PyErr_ExceptionMatches(TypeError)", "false", "plain.py test_the_ways_to_take_a_tensor"},
		"old tensors are written":             {"../import.go", "true, Tensor{&p.DLTensor, FlagReadOnly})", "true, Tensor{&p.DLTensor, 0})", "plain.py test_the_ways_to_take_a_tensor"},
		"an object is overruled":              {"tensors.go", "\tif c.mustNotWrite(i) {\n\t\tmanaged", "\tif false {\n\t\tmanaged", "plain.py test_who_knows_better_writes"},
		"a capsule is not renamed":            {"take.c", "py.PyCapsule_SetName(capsule, used_versioned) == 0", "true", "plain.py test_what_is_no_tensor"},
		"a capsule keeps its tensor":          {"give.c", "delete_versioned(py.PyCapsule_GetPointer(capsule, fresh_versioned));", ";", "plain.py test_a_capsule_that_nobody_takes"},
		"an exception is lost":                {"give.c", "\tpy.PyErr_Restore(kind, value, trace);\n}", "}", "plain.py test_a_capsule_that_dies_of_an_exception"},
		"an exception is lost to deleters":    {"give.c", "\tpy.PyErr_Restore(kind, value, trace);\n\tpy.PyObject_Free", "\tpy.PyObject_Free", "odd.py test_a_tensor_of_python_that_dies_of_an_exception"},
		"a deleter meets an exception":        {"call.go", "\tc.release()\n\tif err != nil {\n\t\traise(err)\n\t}\n", "\tif err != nil {\n\t\traise(err)\n\t}\n\tc.release()\n", "odd.py test_a_tensor_of_python_that_dies_of_an_exception"},
		"a copy hides that it is one":         {"give.c", "made->flags = DLPACK_FLAG_BITMASK_IS_COPIED;", "made->flags = 0;", "odd.py test_copies_say_that_they_are"},
		"a copy forgets the offset":           {"give.c", "(char *)from->data + from->byte_offset", "(char *)from->data", "odd.py test_copies_say_that_they_are"},
		"a fork hangs":                        {"module.c", "if (forked)", "if (0)", "odd.py test_a_forked_process_is_told"},
		"results leak":                        {"call.go", "\t\t\tdiscard(values[i+1:])\n", "", "plain.py test_results_that_nobody_gets"},
		"results leak of errors":              {"call.go", "\t\tdiscard(value)\n", "", "plain.py test_results_that_nobody_gets"},
		"a view loses its flags":              {"give.c", "if (!tensor->flags) return", "return", "plain.py test_read_only_goes_all_ways"},
		"flags are lost with the old":         {"give.c", "if (lost) py.", "if (0) py.", "plain.py test_read_only_goes_all_ways"},
		"types are kept for ever":             {"take.c", "\tpy.Py_DecRef(old);", "", "plain.py test_types_are_remembered_for_a_while"},
		"a type is not kept":                  {"take.c", "\tpy.Py_IncRef(type);", "", "plain.py test_an_address_may_get_another_type"},
		"exceptions leak":                     {"call.go", "C.dlp_%s_py_drop(C.uintptr_t(o))", "_ = o", "plain.py test_many_rounds_without_a_leak"},
		"a tensor is held too long":           {"call.go", "range c.managed {\n\t\tm.Release()\n", "range c.managed {\n\t\t_ = m\n", "plain.py test_capsules_outlive_their_objects"},
		"the lock is kept":                    {"convert.c", "py.finalizing && py.finalizing() ? NULL : py.PyEval_SaveThread()", "NULL", "plain.py test_threads_run_while_go_works"},
		"what is borrowed is not compared":    {"take.c", "c->lent >> i & 1 && !lends_the_same(c, i)", "0", "attack.py test_what_is_told"},
		"shapes are not compared":             {"take.c", "return same_numbers(a->shape, b->shape, a->ndim) &&", "return true ||", "attack.py test_what_is_told"},
		"a lender's type is not compared":     {"take.c", "if (!has_type(c, i)) return false;", "", "attack.py test_what_is_told"},
		"an index runs code":                  {"convert.c", "&& !is_plain_number(object)", "&& 0", "attack.py test_what_is_told"},
		"a retyped object is borrowed":        {"take.c", "while (found < count && !retyped(c, first + found)) found++;", "return count;", "attack.py test_what_is_told"},
		"what runs code comes last":           {"tensors.go", "err == nil && (ran || again)", "err == nil && ran && false", "attack.py test_what_is_told"},
		"an error is the end of it":           {"tensors.go", "if err != nil && c.c.lent != 0 {", "if false {", "attack.py test_a_function_that_passes_over_errors"},
		"a function may go on":                {"call.go", "\tif c.c.changed != 0 {\n\t\terr =", "\tif false {\n\t\terr =", "attack.py test_a_function_that_passes_over_errors"},
		"Paddle's table reads sparse tensors": {"take.c", "? ask(object, constant.is_dense)", "? 1", "with_paddle.py test_tensors_without_memory"},
		"threads are lost":                    {"convert.c", "while (py.finalizing && py.finalizing()) wait", "if (0) wait", "ending.py daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			library := wrongly(t, test.file, test.old, test.replacement)
			out, err := script(python, library, strings.Fields(test.script)...)
			require.True(t, err != nil || !strings.Contains(out, "all there"), out)
			assert.NotContains(t, out, "has no attribute 'test_", "a test of another name")
		})
	}
}

// wrongly builds the module with another text in one file of the package.
func wrongly(t *testing.T, name, old, replacement string) (library string) {
	t.Helper()
	file := filepath.Join(golden.Root(t), "gen", "go", "dlpack", "dlpackpy", name)
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	old = strings.ReplaceAll(old, "%s", prefix.FindStringSubmatch(string(source))[1])
	require.Equal(t, 1, strings.Count(string(source), old), "%q is not once in %s", old, name)
	dir := t.TempDir()
	wrong := filepath.Join(dir, filepath.Base(name))
	require.NoError(t, os.WriteFile(wrong, []byte(strings.Replace(string(source), old, replacement, 1)), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: wrong}})
	require.NoError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	require.NoError(t, build(dir, "-overlay="+overlayFile))
	return dir
}

// prefix is what the emitter puts before the package's names in C.
var prefix = regexp.MustCompile(`dlp_([0-9a-f]{8})_`)
