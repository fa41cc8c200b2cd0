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
)

// mistakes break what the scripts about packages guard, each by the script that must fail. A
// process has a mistake in all its packages.
var mistakes = map[string]struct {
	script string
	mutant.Mutant
}{
	"locks stay locked in children": {"forked.py", mutant.Mutant{File: "kernels/kernels.c",
		Old: "(void)pthread_mutex_init(lock, NULL);", New: "(void)lock;"}},
	"locks do not lock": {"threads.py", mutant.Mutant{File: "kernels/kernels.c",
		Old: "(void)pthread_mutex_lock(lock);", New: "(void)lock;"}},
	"libraries share the names of dimensions": {"copies.py", mutant.Mutant{File: "PACKAGE/kernels_onnxruntime.c",
		Old: "dlpackgen_put_address(name, (uintptr_t)&dlpackgen_ort_names);", New: "dlpackgen_put_address(name, 0x1000);"}},
}

// inPython are mistakes in generated files of Python.
var inPython = map[string]struct {
	script string
	mutant.Mutant
}{
	"packages share operators in graphs": {"copies.py", mutant.Mutant{File: "dlpackgen_paddle.py",
		Old: "_load = _secrets.token_hex(8)", New: `_load = ""`}},
	"missing operators are an error once": {"copies.py", mutant.Mutant{File: "dlpackgen_torchshim.py",
		Old: "return _require(module, _missing[module])", New: "return"}},
	"a name that JAX has is JAX's error": {"copies.py", mutant.Mutant{File: "kernels_jax.py",
		Old: "raise ImportError(f\"{text}: give", New: "raise RuntimeError(f\"{text}: give"}},
}

// packages builds the packages of testdata/packages below a folder, with the mistakes in C.
func packages(t *testing.T, of []mutant.Mutant, flags ...string) string {
	t.Helper()
	return testkit.Built(t, "packages"+strconv.Itoa(len(of))+strings.Join(flags, ""), func(dir string) {
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

// inPackage are mistakes in the files of a package.
func inPackage(all []mutant.Mutant, name string) (of []mutant.Mutant) {
	for _, m := range all {
		m.File = strings.Replace(m.File, "PACKAGE", name, 1)
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

// Copies of a library, threads, forks and unloading harm no call by any host, and each mistake that
// would let them is seen. The scripts share one import of all hosts.
func TestPackagesInOneProcess(t *testing.T) {
	need(t)
	names := slices.Sorted(maps.Keys(mistakes))
	var of []mutant.Mutant
	for _, name := range names {
		of = append(of, mistakes[name].Mutant)
	}
	dir := packages(t, of)
	args := []string{"-W", "ignore", "../mutants.py", "torch,jax,tvm_ffi,onnxruntime,paddle"}
	want := map[string]string{}
	run := func(name string, number int, script, folder string) {
		args = append(args, strconv.Itoa(number), script+" "+folder)
		want[strings.Join([]string{"caught", strconv.Itoa(number), script, folder}, " ")] = name
	}
	for _, script := range []string{"copies.py", "threads.py", "forked.py", "unloaded.py"} {
		run("", 0, script, dir)
	}
	for i, name := range names {
		run(name, i+1, mistakes[name].script, dir)
	}
	for name, mistake := range inPython {
		run(name, 0, mistake.script, mistaught(t, dir, mistake.Mutant))
	}
	cmd := exec.Command(testtool.RequirePython(t), args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH=..:../onnxruntime", "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	said := testkit.Verdicts(string(out))
	require.Len(t, said, len(want))
	for verdict, name := range want {
		if name != "" {
			assert.Contains(t, said, verdict, name)
			continue
		}
		_, caught := said[verdict]
		assert.False(t, caught, "%s\n%s", verdict, said[verdict])
	}
}

// The texts that mistakes change are there.
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
