package gopy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutant breaks the package in one place, which the test of a script detects.
type mutant struct{ file, old, replacement, script string }

var mutants = map[string]mutant{
	"inherited tables are used": {"import.c", "entry ? optional(type, name) : NULL", "optional(type, name)",
		"plain.py test_a_table_is_for_one_type"},
	"tables are used for other types": {"tensor_type.c", "if (of != type)", "if (!of)",
		"plain.py test_a_table_is_for_one_type"},
	"the negative bit is ignored": {"import.c", "if (negated > 0)", "if (negated > 1)",
		"plain.py test_values_that_are_not_in_memory"},
	"requires_grad is ignored": {"import.c", "if (required > 0) *flags", "if (required > 1) *flags",
		"plain.py test_gradients"},
	"producers without max_version are rejected": {"import.c", "py.PyErr_ExceptionMatches(TypeError)", "false",
		"plain.py test_the_ways_to_import_a_tensor"},
	"unversioned tensors are writable": {"../import.go", "true, Tensor{&p.DLTensor, FlagReadOnly})",
		"true, Tensor{&p.DLTensor, 0})", "plain.py test_the_ways_to_import_a_tensor"},
	"writability asserted by the caller is ignored": {"tensors.go", "\tif c.mustNotWrite(i) {\n\t\tmanaged",
		"\tif false {\n\t\tmanaged", "plain.py test_who_knows_better_writes"},
	"consumed capsules are not renamed": {"import.c", "py.PyCapsule_SetName(capsule, used_versioned) == 0", "true",
		"plain.py test_what_is_no_tensor"},
	"unconsumed capsules do not delete their tensor": {"tensor_type.c",
		"delete_versioned(py.PyCapsule_GetPointer(capsule, fresh_versioned));", ";",
		"plain.py test_a_capsule_without_a_consumer"},
	"deleting a capsule clears the current exception": {"tensor_type.c", "\tpy.PyErr_Restore(kind, value, trace);\n}",
		"}",
		"plain.py test_a_capsule_that_dies_of_an_exception"},
	"deleting a tensor object clears the current exception": {"tensor_type.c",
		"\tpy.PyErr_Restore(kind, value, trace);\n\tpy.PyObject_Free",
		"\tpy.PyObject_Free", "odd.py test_a_tensor_of_python_that_dies_of_an_exception"},
	"arguments are released after the exception is set": {"call.go",
		"\tc.release()\n\tif err != nil {\n\t\traise(err)\n\t}\n",
		"\tif err != nil {\n\t\traise(err)\n\t}\n\tc.release()\n",
		"odd.py test_a_tensor_of_python_that_dies_of_an_exception"},
	"copies lack the flag IS_COPIED": {"tensor_type.c", "made->flags = DLPACK_FLAG_BITMASK_IS_COPIED;",
		"made->flags = 0;", "odd.py test_copies_say_that_they_are"},
	"copies ignore byte_offset": {"tensor_type.c", "(char *)from->data + from->byte_offset", "(char *)from->data",
		"odd.py test_copies_say_that_they_are"},
	"forked processes are not detected": {"module.c", "if (forked)", "if (0)",
		"odd.py test_a_forked_process_is_told"},
	"later results leak after an error": {"call.go", "\t\t\tdiscard(values[i+1:])\n", "",
		"plain.py test_results_that_nobody_gets"},
	"results leak if the function returns an error": {"call.go", "\t\tdiscard(value)\n", "",
		"plain.py test_results_that_nobody_gets"},
	"flags of unversioned exports are not checked": {"tensor_type.c", "if (!tensor->flags) return", "return",
		"plain.py test_read_only_goes_all_ways"},
	"lost flags are not reported for old consumers": {"tensor_type.c", "if (lost) py.", "if (0) py.",
		"plain.py test_read_only_goes_all_ways"},
	"evicted types are not released": {"import.c", "\tpy.Py_DecRef(old);", "",
		"plain.py test_types_are_remembered_for_a_while"},
	"cached types are not retained": {"import.c", "\tpy.Py_IncRef(type);", "",
		"plain.py test_an_address_may_get_another_type"},
	"exceptions are not released": {"call.go", "C.dlp_%s_py_drop(C.uintptr_t(o))", "_ = o",
		"plain.py test_many_rounds_without_a_leak"},
	"managed tensors are not released after the call": {"call.go", "range c.managed {\n\t\tm.Release()\n",
		"range c.managed {\n\t\t_ = m\n", "plain.py test_capsules_outlive_their_objects"},
	"the GIL is not released": {"convert.c",
		"py.finalizing && py.finalizing() ? NULL : py.PyEval_SaveThread()", "NULL",
		"plain.py test_threads_run_while_go_works"},
	"borrowed tensors are not compared after other code ran": {"import.c",
		"c->borrowed >> i & 1 && !exports_the_same(c, i)", "0",
		"attack.py test_what_is_told"},
	"shapes of borrowed tensors are not compared": {"import.c", "return same_numbers(a->shape, b->shape, a->ndim) &&",
		"return true ||", "attack.py test_what_is_told"},
	"types of exporters are not compared": {"import.c", "if (!has_type(c, i)) return false;", "",
		"attack.py test_what_is_told"},
	"objects with __index__ count as plain numbers": {"convert.c", "&& !is_plain_number(object)", "&& 0",
		"attack.py test_what_is_told"},
	"objects whose type changed are borrowed": {"import.c",
		"while (found < count && !retyped(c, first + found)) found++;",
		"return count;", "attack.py test_what_is_told"},
	"arguments are not checked again after other code ran": {"tensors.go", "err == nil && (ran || again)",
		"err == nil && ran && false", "attack.py test_what_is_told"},
	"arguments are not checked again after an error": {"tensors.go", "if err != nil && c.c.borrowed != 0 {",
		"if false {",
		"attack.py test_a_function_that_passes_over_errors"},
	"teens have the ordinals of other numbers": {"call.go", " && number/10%10 != 1", "",
		"plain.py test_the_place_of_an_argument"},
	"changed arguments are not reported after the function": {"call.go", "\tif c.c.changed != 0 {\n\t\terr =",
		"\tif false {\n\t\terr =", "attack.py test_a_function_that_passes_over_errors"},
	"Paddle's table reads sparse tensors": {"import.c", "? query(object, constant.is_dense)", "? 1",
		"with_paddle.py test_tensors_without_memory"},
	"threads do not wait while Python finalizes": {"convert.c", "while (py.finalizing && py.finalizing()) wait",
		"if (0) wait", "ending.py daemon"},
}

// The scripts detect mistakes. Each mutant has a separate process, because a Go run time does not
// survive a fork.
func TestTheScriptsFindWhatIsWrong(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds the module for each mistake, and -short was given")
	}
	python, inC := environment(t), withMutants(t)
	for _, name := range []string{"plain.py", "odd.py"} {
		out, err := script(python, inC.library, name)
		require.NoError(t, err, "all mutants are off: %s", out)
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			library := inC.library
			if number, ok := inC.numbers[name]; ok {
				t.Setenv(mutation.Variable, strconv.Itoa(number))
			} else {
				library = wrongly(t, m)
			}
			out, err := script(python, library, strings.Fields(m.script)...)
			require.True(t, err != nil || !strings.Contains(out, "all there"), out)
			assert.NotContains(t, out, "has no attribute 'test_", "a test of another name")
		})
	}
}

// folder is the package's folder.
func folder(t *testing.T) string {
	return filepath.Join(golden.Root(t), "gen", "go", "dlpack", "dlpackpy")
}

// source returns a file of the package, and the text that a mutant changes in it.
func (m mutant) source(t *testing.T) (path string, change mutation.Mutant) {
	t.Helper()
	path = filepath.Join(folder(t), m.file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	old := m.old
	if strings.Contains(old, "%s") {
		old = strings.ReplaceAll(old, "%s", prefix.FindStringSubmatch(string(text))[1])
	}
	return path, mutation.Mutant{File: filepath.Base(m.file), Old: old, New: m.replacement}
}

// built is the module with all mutants that change statements, and their numbers.
type built struct {
	library string
	numbers map[string]int
}

func withMutants(t *testing.T) built {
	t.Helper()
	made, dir := built{library: t.TempDir(), numbers: map[string]int{}}, t.TempDir()
	parent := filepath.Dir(folder(t))
	require.NoError(t, os.CopyFS(dir, os.DirFS(parent)))
	var all []mutation.Mutant
	replaced := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(mutants)) {
		path, change := mutants[name].source(t)
		file, err := filepath.Rel(parent, path)
		require.NoError(t, err)
		change.File = file
		all = append(all, change)
		made.numbers[name] = len(all)
		replaced[path] = filepath.Join(dir, file)
	}
	written := mutation.Write(t, dir, all)
	maps.DeleteFunc(made.numbers, func(_ string, number int) bool { return slices.Contains(written.Apart, number) })
	for path, file := range replaced {
		if filepath.Ext(
			path) == ".c" { // as a line of the file, so that other packages are not rebuilt with other flags
			prepend(t, file, "#include \""+filepath.Join(dir, mutation.Header)+"\"\n")
			continue
		}
		chooser := filepath.Join(filepath.Dir(path), mutation.GoFile)
		replaced[chooser] = filepath.Join(filepath.Dir(file), mutation.GoFile)
	}
	overlaid(t, made.library, replaced)
	return made
}

func prepend(t *testing.T, file, text string) {
	t.Helper()
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte(text), old...), 0o600))
}

// overlaid builds the module with replacements for some files of the package.
func overlaid(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(path, overlay, 0o600))
	require.NoError(t, build(dir, "-overlay="+path))
}

// wrongly builds the module with one mutant.
func wrongly(t *testing.T, m mutant) (library string) {
	t.Helper()
	path, change := m.source(t)
	dir := t.TempDir()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	file := filepath.Join(dir, change.File)
	if filepath.Ext(file) == ".go" { // if line breaks end statements
		text = []byte(mutation.Once(t, string(text), change.Old, change.New))
	}
	require.NoError(t, os.WriteFile(file, text, 0o600))
	if filepath.Ext(file) == ".c" {
		change.Alone(t, dir)
	}
	overlaid(t, dir, map[string]string{path: filepath.Join(dir, change.File)})
	return dir
}

// prefix is the emitter's prefix of the package's names in C.
var prefix = regexp.MustCompile(`dlp_([0-9a-f]{8})_`)
