package callers

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mistakes break the guards of packages; each names the script that must fail. A process has the
// mistake in all its packages.
//
//mutants:in templates/kernels/serial.h templates/onnxruntime/*.h
var mistakes = map[string]struct {
	script string
	mutant.Mutant
}{
	"locks stay locked in children": {"forked.py", mutant.Mutant{File: "kernels/kernels.c",
		Old: "(void)pthread_mutex_init(lock, NULL);", New: "(void)lock;"}},
	"locks do not lock": {"threads.py", mutant.Mutant{File: "kernels/kernels.c",
		Old: "(void)pthread_mutex_lock(lock);", New: "(void)lock;"}},
	"texts are read without the lock": {"threads.py", mutant.Mutant{File: "kernels/kernels.c",
		Old: "dlpackgen_fail_kernel_turn(failure_, message_)",
		New: "({ dlpackgen_lock_release(&dlpackgen_lock_of_turn); " +
			"const int said = dlpackgen_fail_kernel_turn(failure_, message_); " +
			"dlpackgen_lock_acquire(&dlpackgen_lock_of_turn); said; })"}},
	"libraries share the names of dimensions": {"copies.py", mutant.Mutant{File: "PACKAGE/kernels_onnxruntime.c",
		Old: "dlpackgen_put_address(name, (uintptr_t)&dlpackgen_ort_names);",
		New: "dlpackgen_put_address(name, 0x1000);"}},
	usedAfterItsEnd: {"sanitized.py", mutant.Mutant{File: "PACKAGE/kernels_onnxruntime.c",
		Old: "free(node);", New: "free(node); node->op = NULL;"}},
}

// usedAfterItsEnd is a mistake that only a sanitizer detects.
const usedAfterItsEnd = "a node is used after its end"

// inPython are mistakes in generated Python files.
//
//mutants:in templates/jax/transforms.py templates/paddle/graphs.py
//mutants:in templates/torchshim/dlpackgen_torchshim.py
var inPython = map[string]struct {
	script string
	mutant.Mutant
}{
	"packages share operators in graphs": {"copies.py", mutant.Mutant{File: "dlpackgen_paddle.py",
		Old: "_load = _secrets.token_hex(8)", New: `_load = ""`}},
	"missing operators are an error once": {"copies.py", mutant.Mutant{File: "dlpackgen_torchshim.py",
		Old: "return _require(module, _missing[module])", New: "return"}},
	"a name that JAX has is JAX's error": {"copies.py", mutant.Mutant{File: "kernels_jax.py",
		Old: "raise ImportError(f\"{text}: choose", New: "raise RuntimeError(f\"{text}: choose"}},
}

// packages builds the packages of testdata/packages below a folder, with the mistakes in C.
func packages(t *testing.T, flags ...string) string {
	t.Helper()
	_, of := inC()
	return testkit.Built(t, "packages"+strings.Join(flags, ""), func(dir string) {
		for _, name := range []string{"first", "other"} {
			below := filepath.Join(dir, name)
			testkit.Generate(t, "testdata/packages/"+name+".yaml", below)
			written := mutant.Write(t, below, inPackage(of, name))
			require.Empty(t, written.Apart)
			files, err := filepath.Glob(filepath.Join(below, name, "*kernels*.c"))
			require.NoError(t, err)
			args := append(files, filepath.Join(below, "kernels", "kernels.c"), "testdata/packages/author.c",
				"-DAUTHOR_"+name, "-I"+filepath.Join(below, name))
			compile(t, below, filepath.Join(below, name, "_kernels.abi3.so"),
				slices.Concat(args, flags, written.Flags)...)
		}
	})
}

// inC are the mistakes in C, by number.
func inC() (names []string, of []mutant.Mutant) {
	names = slices.Sorted(maps.Keys(mistakes))
	for _, name := range names {
		of = append(of, mistakes[name].Mutant)
	}
	return names, of
}

// inPackage are mistakes in the files of a package.
func inPackage(all []mutant.Mutant, name string) (of []mutant.Mutant) {
	for _, m := range all {
		m.File = strings.ReplaceAll(m.File, "PACKAGE", name)
		of = append(of, m)
	}
	return of
}

// mistaught is a copy of packages with a mistake in a file of each.
func mistaught(t *testing.T, dir string, m mutant.Mutant) string {
	t.Helper()
	fresh := t.TempDir()
	require.NoError(t, os.CopyFS(fresh, os.DirFS(dir)))
	for _, name := range []string{"first", "other"} {
		mutant.OnceIn(t, filepath.Join(fresh, name, name, m.File), m.Old, m.New)
	}
	return fresh
}

// Copies of a library, threads, forks and unloading do not affect calls of any host, and each
// mistake that would change this is detected. The scripts share one import of all hosts.
func TestPackagesInOneProcess(t *testing.T) {
	requireHosts(t)
	names, _ := inC()
	dir := packages(t)
	args := []string{"-W", "ignore", "../mutants.py", testkit.Frameworks}
	want := map[string]string{}
	run := func(name string, number int, script, folder string) {
		args = append(args, strconv.Itoa(number), script+" "+folder)
		want[strings.Join([]string{"caught", strconv.Itoa(number), script, folder}, " ")] = name
	}
	for _, script := range []string{"copies.py", "threads.py", "forked.py", "unloaded.py"} {
		run("", 0, script, dir)
	}
	if tier.IsNightly() {
		for i, name := range names {
			if name != usedAfterItsEnd {
				run(name, i+1, mistakes[name].script, dir)
			}
		}
		for name, mistake := range inPython {
			run(name, 0, mistake.script, mistaught(t, dir, mistake.Mutant))
		}
	}
	cmd := testkit.Forked(testtool.RequirePython(t), testkit.Frameworks, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH=..:../onnxruntime", "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	printed := testkit.Verdicts(string(out))
	require.Len(t, printed, len(want))
	for verdict, name := range want {
		if name != "" {
			assert.Contains(t, printed, verdict, name)
			continue
		}
		_, caught := printed[verdict]
		assert.False(t, caught, "%s\n%s", verdict, printed[verdict])
	}
}

// Threads, children of fork and unloading under AddressSanitizer and UBSan.
func TestPackagesUnderSanitizers(t *testing.T) {
	tier.OnlyNightly(t)
	requireHosts(t)
	dir := packages(t, slices.Concat(testkit.Sanitized, []string{"-g1", "-Wno-error"})...)
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	preloaded, err := exec.Command("sh", "-c", "echo $("+gcc+" -print-file-name=libasan.so) $("+gcc+
		" -print-file-name=libstdc++.so.6)").Output()
	require.NoError(t, err)
	names, _ := inC()
	for _, number := range []int{0, slices.Index(names, usedAfterItsEnd) + 1} {
		cmd := exec.Command(testtool.RequirePython(t), "-W", "ignore", "sanitized.py", dir)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+strings.TrimSpace(string(preloaded)),
			"ASAN_OPTIONS=detect_leaks=0",
			"PYTHONPATH=..:../onnxruntime", "PYTHONDONTWRITEBYTECODE=1", mutant.Env(number))
		out, err := cmd.CombinedOutput()
		if number == 0 {
			require.NoError(t, err, "%s", out)
			continue
		}
		assert.Error(t, err)
		assert.Contains(t, string(out), "heap-use-after-free")
	}
}

// The texts that the mistakes replace exist.
func TestMistakesHaveTheirTexts(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/packages/first.yaml", dir)
	for _, m := range mistakes {
		inPackage([]mutant.Mutant{m.Mutant}, "first")[0].Require(t, dir)
	}
	for _, m := range inPython {
		m.Require(t, filepath.Join(dir, "first"))
	}
}
