package safety

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// runThreads builds a program of many threads for ThreadSanitizer, with headers that may be wrong,
// and runs it. Without optimization, all memory accesses are kept, and the build is much faster.
func runThreads(t *testing.T, source, headers string) (string, error) {
	t.Helper()
	p := testtool.RequireEmbeddable(t)
	program := filepath.Join(t.TempDir(), "threads")
	out, err := exec.Command(testtool.RequireCompiler(t, "clang-16", "clang-16"), "-g", "-O0", "-std=gnu11", "-Wall",
		"-Wextra",
		"-fsanitize=thread", "-I", headers,
		"-isystem", p.Include, "-o", program, filepath.Join("module", source), "-L", p.Lib, "-Wl,-rpath,"+p.Lib,
		"-l"+p.Name, "-pthread").CombinedOutput()
	require.NoError(t, err, "%s", out)
	// A broken program may wait forever: the first race ends it, or five minutes of its own CPU
	// time.
	cmd := exec.Command(testtool.Require(t, "prlimit", "util-linux"), "--cpu=300", program)
	cmd.Env = append(os.Environ(), "PYTHONHOME="+p.Home, "TSAN_OPTIONS=halt_on_error=1")
	out, err = cmd.CombinedOutput()
	return string(out), err
}

// C threads receive tensors, pass them on and delete them, concurrently with Python: from pools
// that end before their tensors, from malloc, and from objects.
func TestThreadsOfC(t *testing.T) {
	out, err := runThreads(t, "threads.c", headers(t))
	require.NoError(t, err, out)
	assert.Equal(t, "all given back\n", out)
}

func TestTheThreadsFindWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program for each mistake, and -short was given")
	}
	for name, test := range map[string]struct{ file, old, changed string }{
		"deleters do not acquire the GIL": {"managed.h",
			"PyGILState_STATE gil = PyGILState_Ensure();\n\tstruct dlpackgen_pending pending = " +
				"dlpackgen_suspend();\n\tPy_DECREF(object);\n" +
				"\tdlpackgen_resume(pending);\n\tPyGILState_Release(gil);", "Py_DECREF(object);"},
		"deleters write to a global variable": {"managed.h",
			"static void dlpackgen_let_go(struct dlpackgen_holder *holder) {",
			"static long dlpackgen_deleted;\nstatic void dlpackgen_let_go(struct dlpackgen_holder *holder) " +
				"{\n\tdlpackgen_deleted++;"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runThreads(t, "threads.c", mutant(t, "dlpackgen_python/"+test.file, test.old, test.changed))
			require.Error(t, err, out)
			assert.Regexp(t, `ThreadSanitizer|not so: |Fatal Python error`, out+fmt.Sprint(err))
		})
	}
}

// Threads without the GIL find the cached properties of a type, like in a Python without one, while
// another thread looks it up, or find no entry.
func TestPublication(t *testing.T) {
	out, err := runThreads(t, "publication.c", headers(t))
	require.NoError(t, err, out)
	assert.Equal(t, "all whole\n", out)
}

func TestPublicationThatIsWrongIsFound(t *testing.T) {
	tier.OnlyNightly(t)
	for name, test := range map[string]struct{ file, old, changed string }{
		"loads are not atomic": {"state.h",
			"#define DLPACKGEN_LOAD(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)",
			"#define DLPACKGEN_LOAD(place) (*(place))"},
		"loads are relaxed": {"state.h", "__ATOMIC_ACQUIRE", "__ATOMIC_RELAXED"},
		"stores are not atomic": {"state.h",
			"#define DLPACKGEN_STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)",
			"#define DLPACKGEN_STORE(place, value) (*(place) = (value))"},
		"stores are relaxed": {"state.h", "__ATOMIC_RELEASE", "__ATOMIC_RELAXED"},
		"types are published before they are complete": {"access.h", "\tif (dlpackgen_fill_access(state, made)) {",
			"\tdlpackgen_publish(state, made);\n\tif (dlpackgen_fill_access(state, made)) {"},
		"two threads determine torch's fields": {"reader_torch_shim.h",
			"if (DLPACKGEN_CLAIM(&dlpackgen_torch_claimed)) {",
			"if (1) {"},
		"torch's fields are published before they are stored": {"reader_torch_shim.h",
			"\t\tdlpackgen_torch = *found;\n\t\tDLPACKGEN_STORE(&dlpackgen_torch_published, 1);",
			"\t\tDLPACKGEN_STORE(&dlpackgen_torch_published, 1);\n\t\tdlpackgen_torch = *found;"},
		"tables are published before they are stored": {"access.h",
			"\tmade->api = table;\n\tDLPACKGEN_STORE(&state->registered[place], made);",
			"\tDLPACKGEN_STORE(&state->registered[place], made);\n\tmade->api = table;"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runThreads(t, "publication.c", mutant(t, "dlpackgen_python/"+test.file, test.old, test.changed))
			require.Error(t, err, out)
			assert.Contains(t, out, "ThreadSanitizer: data race")
		})
	}
}

// Other threads cannot change checked properties between two steps of a call.
func TestBetweenTwoSteps(t *testing.T) {
	out, err := runThreads(t, "between.c", headers(t))
	require.NoError(t, err, out)
	assert.Equal(t, "ended\n", out)
	if testing.Short() {
		t.Skip("builds the program for each mistake, and -short was given")
	}
	for says, test := range map[string]struct{ file, old, changed string }{
		"a capsule was taken twice": {"state.h",
			"#if defined(Py_GIL_DISABLED) && defined(Py_BEGIN_CRITICAL_SECTION)", "#if 0"},
		"what was checked has changed": {"reader_torch.h", "\tdlpackgen_copy_numbers(out, scratch);\n", ""},
		"what was guarded has changed": {"begin.h", "if (!dlpackgen_copies(&a->tensor, scratch)) return 0;", ""},
	} {
		out, _ := runThreads(t, "between.c", mutant(t, "dlpackgen_python/"+test.file, test.old, test.changed))
		assert.Contains(t, out, says)
	}
}

// LeakSanitizer counts the lost memory at the end. Python itself leaks much, which is recognized by
// the allocating function. The scripts themselves count the foreign producers' tensors, some of
// which deliberately have no deleter.
func TestNoMemoryIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for the sanitizers, and -short was given")
	}
	assertLost(t, headers(t), false)
}

func TestTheLeakSanitizerFindsWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for the sanitizers, and -short was given")
	}
	for name, wrong := range map[string]struct{ file, old, changed string }{
		"blocks are not freed": {"managed.h", "if (holder->object) dlpackgen_drop(holder->object);\n\tfree(holder);",
			"if (holder->object) dlpackgen_drop(holder->object);\n\tholder->object = NULL;"},
		"tensors have no deleter": {"managed.h", "made->tensor.deleter = dlpackgen_holder_deleter;",
			"made->tensor.deleter = NULL;"},
	} {
		t.Run(name, func(t *testing.T) {
			assertLost(t, mutant(t, "dlpackgen_python/"+wrong.file, wrong.old, wrong.changed), true)
		})
	}
}

// assertLost runs scripts of tests/python under LeakSanitizer.
func assertLost(t *testing.T, headers string, lost bool) {
	t.Helper()
	p, compiler := testtool.RequireEmbeddable(t), testtool.RequireRunCompiler(t, "gcc")
	flags, preload := testkit.RequireSanitizers(t)
	scripts, dir := filepath.Join(golden.Root(t), "tests", "python"), t.TempDir()
	for _, module := range []string{"checked", "untrusted"} {
		out, err := exec.Command(compiler, append(flags, "-g", "-O0", "-std=c11", "-fPIC", "-shared",
			"-fvisibility=hidden", "-DPy_LIMITED_API=0x030B0000",
			"-I", headers, "-isystem", p.Include, "-o", filepath.Join(dir, module+".abi3.so"),
			filepath.Join(scripts, "module", module+".c"))...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	suppressions, err := filepath.Abs("lsan.supp")
	require.NoError(t, err)
	for _, name := range []string{"exports.py", "fits.py", "descriptions.py", "lives.py", "access_methods.py",
		"rules.py"} {
		text, err := script(t, dir, []string{"LD_PRELOAD=" + preload, "PYTHONMALLOC=malloc", "SCRATCH=" + t.TempDir(),
			"ASAN_OPTIONS=detect_leaks=1:malloc_context_size=3:fast_unwind_on_malloc=0:allocator_may_return_null=1:leak_check_at_exit=1",
			"LSAN_OPTIONS=print_suppressions=0:suppressions=" + suppressions}, filepath.Join(scripts, name))
		if lost && err != nil {
			assert.Contains(t, text, "LeakSanitizer: detected memory leaks")
			return
		}
		assert.NoError(t, err, text)
	}
	assert.False(t, lost, "the leak was not detected")
}
