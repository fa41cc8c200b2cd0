package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// dropped is a deleter that leaks its memory, for LeakSanitizer to detect.
var dropped = mutation.Mutant{File: "dlpackgen_torch/owned.hpp",
	Old: "  owned->~Export();\n  Pool<Export<Kept>>::give(owned);\n", New: "  owned->~Export();\n"}

var (
	sanitizedOnce sync.Once
	errSanitized  error
)

// sanitized returns the package for AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer,
// with one inactive mutant, and the required environment of Python.
func sanitized(t *testing.T, to torches) (dir string, env []string) {
	t.Helper()
	// the sanitizer looks up the latter when it starts
	runtime, standard := testkit.RequireRuntime(t, "libasan.so"), testkit.RequireRuntime(t, "libstdc++.so.6")
	dir = filepath.Join(library, "sanitized")
	sanitizedOnce.Do(func() {
		headers := filepath.Join(dir, "headers")
		unfolded(t, headers)
		written := mutation.Write(t, headers, []mutation.Mutant{dropped})
		require.Empty(t, written.Apart)
		// pybind11 compares its own addresses in ways that -fsanitize=vptr does not support across
		// libraries.
		errSanitized = to.build(t, headers, dir,
			append(written.Flags, "-Wno-error", "-O0", "-g1", "-fno-omit-frame-pointer",
				"-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")...)
		helper(t, dir)
	})
	require.NoError(t, errSanitized)
	// A library of paddle or jax frees with another operator than the allocating one.
	options := "ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:alloc_dealloc_mismatch=0:exitcode=0"
	return dir, []string{options, "LD_PRELOAD=" + runtime + " " + standard, "PYTHONMALLOC=malloc",
		"UBSAN_OPTIONS=halt_on_error=1"}
}

// Every path of the table and the consumer, including failures. Leaks are checked after Python's
// end.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	to := environment(t)
	dir, env := sanitized(t, to)
	out, err := script(to, dir, env, append([]string{"../inturn.py"}, scripts...)...)
	require.NoError(t, err, out)
	assert.NotContains(t, out, "ERROR: AddressSanitizer")
	assert.NotContains(t, out, "runtime error")
	assert.Empty(t, testkit.Leaks(out))
	for _, name := range scripts {
		t.Run(name, func(t *testing.T) {
			_, printed, _ := strings.Cut("\n"+out, "\nin "+name+"\n")
			printed, _, _ = strings.Cut(printed, "\nin ")
			assert.NotContains(t, "\n"+printed, "\nfailed ")
			assert.Contains(t, "\n"+printed, "\nok ")
		})
	}
}

// mutated returns a folder with the sources, with a text replaced in one of them.
func mutated(t *testing.T, file, old, replacement string) string {
	t.Helper()
	headers := t.TempDir()
	unfolded(t, headers)
	mutation.Mutant{File: "dlpackgen_torch/" + file, Old: old, New: replacement}.Alone(t, headers)
	return headers
}

// Without a report, the test would prove nothing.
func TestLostMemoryIsSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	to := environment(t)
	dir, env := sanitized(t, to)
	out, err := script(to, dir, append(env, mutation.Env(1)), "table.py", "test_deleters_release_once")
	require.NoError(t, err, out)
	assert.NotEmpty(t, testkit.Leaks(out))
}

// pooled declares the blocks of a pool. A pool that all threads share is a mistake in a
// declaration, which no statement can select in a build.
const pooled = "static inline DLPACKGEN_PYTORCH_THREAD Kept kept_{nullptr, 0, State::fresh};"

// sharing writes the sources to a folder, with pools that all threads share in a process with
// mutant 1, and returns the required flags.
func sharing(t *testing.T, headers string) (flags []string) {
	t.Helper()
	unfolded(t, headers)
	path := filepath.Join(headers, "dlpackgen_torch", "pool.hpp")
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	standing := mutation.Standing(t, string(source), pooled)
	before, after, _ := strings.Cut(string(source), standing)
	own := mutation.Once(t, standing, "kept_", "own_")
	shared := mutation.Once(t, own, "DLPACKGEN_PYTORCH_THREAD Kept own_", "Kept shared_")
	choice := own + "\n" + shared + "\nstatic Kept& kept() { return dlpackgen_mutant(1) ? shared_ : own_; }\n"
	text := strings.ReplaceAll(before+choice+after, "kept_.", "kept().")
	require.NotContains(t, text, "kept_")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return mutation.Write(t, headers, nil).Flags
}

var (
	racesOnce sync.Once
	errRaces  error
)

// races runs the tests with many threads, with the package built for ThreadSanitizer.
func races(t *testing.T, number int) string {
	t.Helper()
	to, dir := environment(t), filepath.Join(library, "races")
	runtime, standard := testkit.RequireRuntime(t, "libtsan.so"), testkit.RequireRuntime(t, "libstdc++.so.6")
	racesOnce.Do(func() {
		headers := filepath.Join(dir, "headers")
		errRaces = to.build(t, headers, dir, append(
			sharing(t, headers), "-Wno-error", "-O1", "-g1", "-fsanitize=thread")...)
	})
	require.NoError(t, errRaces)
	env := []string{"LD_PRELOAD=" + runtime + " " + standard, "TSAN_OPTIONS=exitcode=0", mutation.Env(number)}
	tests := found(t, "threads.py", `^def (test_(?:exports|imports|new)\w*)`)
	out, err := script(to, dir, env, append([]string{"threads.py"}, tests...)...)
	if err == nil && number == 0 { // a race may end the process, even with status 0
		assert.Equal(t, len(tests), strings.Count("\n"+out, "\nok "), out)
	}
	return out
}

func TestThreadsDoNotRace(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	assert.NotContains(t, races(t, 0), "WARNING: ThreadSanitizer")
}

// A pool that all threads share would race, which must be detected.
func TestRacesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	assert.Contains(t, races(t, 1), "ThreadSanitizer")
}

var failingOnce sync.Once

// without returns the environment that makes allocations fail.
func without(t *testing.T) []string {
	t.Helper()
	failing := filepath.Join(library, "failing.so")
	failingOnce.Do(func() {
		out, err := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), "-std=c11", testkit.Level(), "-g1", "-fPIC",
			"-shared", "-Wall", "-Wextra", "-Werror",
			"module/failing.c", "-ldl", "-o", failing).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	return []string{"LD_PRELOAD=" + failing, "PYTHONMALLOC=malloc"}
}

// Wherever memory is exhausted, a Python error reports it, without leaks. torch's stable ABI itself
// ends the process in this case.
func TestWithoutMemory(t *testing.T) {
	to, dir := modules(t)
	passes(t, to, dir, without(t), "failing.py")
}
