package safety

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// buildFailing builds the module with failing allocations, with headers that may be wrong.
func buildFailing(t *testing.T, headers string, flags ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	args := append([]string{"-g", testkit.Level(), "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden",
		"-Wl,--wrap=malloc,--wrap=calloc,--wrap=free",
		"-I", headers, "-isystem", testtool.RequireEmbeddable(t).Include, "-o", filepath.Join(dir, "failing.so"),
		filepath.Join("module", "failing.c")}, flags...)
	out, err := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// script runs a script of this folder with the modules in another.
func script(t *testing.T, modules string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(testtool.RequirePython(t), args...)
	cmd.Env = append(os.Environ(), "MODULES="+modules, "PYTHONDONTWRITEBYTECODE=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Each allocation fails in turn, of the library and of Python.
func TestAllocationsThatFail(t *testing.T) {
	out, err := script(t, buildFailing(t, headers(t)), nil, "failing.py")
	require.NoError(t, err, out)
	source, err := os.ReadFile("failing.py")
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(source), "\ndef test_"),
		len(regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1)), out)
}

// Each of these mutants mishandles exhausted memory.
var forgotten = map[string]struct{ file, old, changed, says string }{
	"the result of malloc is not checked": {"managed.h", "if (!made) return NULL;\n\tmemset", "memset",
		"signal: segmentation fault"},
	"MemoryError is not set": {"capsules.h", "if (!made) {\n\t\tPyErr_NoMemory();", "if (!made) {",
		"<class 'SystemError'> when allocation"},
	"tensors leak if their capsule cannot be created": {"capsules.h",
		"if (!capsule && legacy) dlpackgen_delete_quietly(NULL, legacy);", "if (!capsule && legacy) return capsule;",
		"blocks and tensors leak"},
	"tensors leak if their object cannot be created": {"object.h",
		"else dlpackgen_delete_quietly(whole ? whole : tensor, NULL);",
		"", "blocks and tensors leak"},
	"imported tensors leak if they cannot be converted": {"import.h",
		"if (!made) dlpackgen_delete_quietly(imported.versioned, imported.legacy);", "", "blocks and tensors leak"},
	"access methods leak if their lookup fails": {"access.h", "dlpackgen_free_access(made);", "(void)made;",
		"blocks are kept for types"},
	"MemoryError counts as a missing table": {"access.h",
		"if (!value && !PyErr_ExceptionMatches(PyExc_KeyError)) return -1;", "",
		"<class 'TypeError'> when allocation"},
	"MemoryError counts as an unknown NumPy": {"reader_numpy.h",
		"PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;",
		"0) return -1;", "unproven when allocation"},
	"texts leak if a message cannot be created": {"errors.h", "Py_XDECREF(which);\n\tPy_XDECREF(text);",
		"Py_XDECREF(which);",
		"objects leak"},
}

func TestTheSweepsFindWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the module with the mistakes, and -short was given")
	}
	var all []mutation.Mutant
	names := slices.Sorted(maps.Keys(forgotten))
	for _, name := range names {
		m := forgotten[name]
		all = append(all, mutation.Mutant{File: "dlpackgen_python/" + m.file, Old: m.old, New: m.changed})
	}
	modules := mutation.Programs(t, parts(t), all,
		func(dir string, flags ...string) string { return buildFailing(t, dir, append(flags, "-O0")...) })
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			dir, env := modules(t, i)
			t.Parallel()
			out, err := script(t, dir, []string{env}, "failing.py")
			require.Error(t, err)
			assert.Contains(t, out+fmt.Sprint(err), forgotten[name].says)
		})
	}
}
