// Package clients tests the native readers for other libraries, and the tensors that modules
// export, with these libraries: torch, numpy, jax, paddle, tvm-ffi and nanobind. cases.py has the
// expected outcome for each tensor.
package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// environment returns the Python with the libraries, or skips the test.
func environment(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the shim of torch is found by dlopen")
	}
	return testtool.RequirePython(t)
}

// needs skips the test if a Python package is missing.
func needs(t *testing.T, python string, packages ...string) {
	t.Helper()
	for _, name := range packages {
		if exec.Command(python, "-c",
			"import importlib.util, sys; sys.exit(not importlib.util.find_spec('"+name+"'))").Run() != nil {
			t.Skipf("needs %s: pip install -r tests/requirements-frameworks.txt", name)
		}
	}
}

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "clients")) }

// build builds the module clients with the headers of a folder, and returns the module's folder.
// With the committed headers, it is built once for each set of flags.
func build(t *testing.T, python, headers string, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module for what large frameworks make, and -short was given")
	}
	if headers != generated(t) {
		return compiled(t, python, t.TempDir(), headers, append(flags, "-O0")...)
	}
	testtool.RequireHeaders(t, python)
	return testkit.Built(t, "module "+strings.Join(flags, " "), func(dir string) {
		if len(flags) > 0 {
			flags = append(flags, "-O0")
		}
		compiled(t, python, dir, headers, flags...)
	})
}

func compiled(t *testing.T, python, dir, headers string, flags ...string) string {
	t.Helper()
	args := append([]string{
		"-std=c11", testkit.Level(), "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
		"-DPy_LIMITED_API=0x030B0000",
		"-I" + headers, "-I" + testtool.RequireHeaders(t, python), "-o", filepath.Join(dir, "clients.abi3.so"),
		"module/clients.c",
	}, flags...)
	testkit.Run(t, testtool.RequireRunCompiler(t, "gcc"), args...)
	return dir
}

// generated is the folder of the committed headers.
func generated(t *testing.T) string {
	return filepath.Join(golden.Root(t), "gen", "c")
}

// withNanobind adds the module withnanobind to the module folders. tests/torch builds the same
// module.
func withNanobind(t *testing.T, python, modules string) string {
	t.Helper()
	needs(t, python, "nanobind")
	gxx := testtool.RequireRunCompiler(t, "g++")
	out, err := exec.Command(python, "-c", "import nanobind, os; print(os.path.dirname(nanobind.__file__))").Output()
	require.NoError(t, err)
	nanobind := strings.TrimSpace(string(out))
	return modules + string(filepath.ListSeparator) + testkit.Built(t, "nanobind", func(dir string) {
		testkit.Run(t, gxx, "-std=c++17", testkit.Level(), "-fPIC", "-shared", "-fvisibility=hidden", "-DNDEBUG",
			"-I"+testtool.RequireHeaders(t, python), "-I"+filepath.Join(nanobind, "include"),
			"-I"+filepath.Join(nanobind, "ext", "robin_map", "include"),
			"module/nanobind.cpp", filepath.Join(nanobind, "src", "nb_combined.cpp"),
			"-o", filepath.Join(dir, "withnanobind.so"))
	})
}

// imports are the modules of a script, which are imported before it runs.
func imports(args []string) string {
	if slices.Equal(args, []string{"matrix.py"}) {
		return testkit.Frameworks
	}
	return testkit.Modules(args...)
}

// script runs a script of this folder with the modules in another one.
func script(python, modules string, args ...string) (stdout, stderr string, err error) {
	cmd := testkit.Forked(python, imports(args), args...)
	// Freed memory is overwritten, so that later reads are detected.
	cmd.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1", "JAX_PLATFORMS=cpu",
		"MALLOC_PERTURB_=165")
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

// run is one of several scripts that share an import of a library, and its folder of modules.
type run struct {
	modules string
	args    []string
}

// script is the script for tests/mutants.py.
func (r run) script() string {
	return "'PYTHONPATH=" + r.modules + "' '" + strings.Join(r.args, "' '") + "'"
}

// printed is the output of scripts, by verdict.
type printed map[string]string

// forked runs scripts, each in a process that has imported a library.
func forked(t *testing.T, python, library string, all ...run) printed {
	t.Helper()
	args := []string{"../mutants.py", library}
	for _, r := range all {
		args = append(args, "0", r.script())
	}
	out, log, err := script(python, "", args...)
	require.NoError(t, err, "%s\n%s", out, log)
	return testkit.Verdicts(out)
}

// passes fails unless a script reports success for each of its cases, and the expected number of
// them.
func (s printed) passes(t *testing.T, least int, r run) {
	t.Helper()
	out, isFine := s["missed 0 "+r.script()]
	require.True(t, isFine, s["caught 0 "+r.script()])
	assert.GreaterOrEqual(t, len(passed.FindAllString(out, -1)), least, out)
}

var ended = regexp.MustCompile(`(?m)^ended with status (\d+)$`)

// fails checks that a script reports a failure of one named case, or crashes.
func (s printed) fails(t *testing.T, name string, r run) {
	t.Helper()
	out, isCaught := s["caught 0 "+r.script()]
	require.True(t, isCaught, s["missed 0 "+r.script()])
	if status := ended.FindStringSubmatch(out); len(status) > 0 && len(status[1]) < len("256") {
		return // a signal
	}
	assert.Contains(t, out, fmt.Sprintf("FAIL %s", name))
}

var passed = regexp.MustCompile(`(?m)^ok (.*)$`)

// passes fails unless a script reports success for each of its cases, and the expected number of
// them.
func passes(t *testing.T, python, modules string, least int, args ...string) {
	t.Helper()
	out, log, err := script(python, modules, args...)
	require.NoError(t, err, "%s\n%s", out, log)
	assert.GreaterOrEqual(t, len(passed.FindAllString(out, -1)), least, out)
}

// wrongly copies the headers with a changed text in one of them.
func wrongly(t *testing.T, edits ...[3]string) string {
	t.Helper()
	dir := testkit.Parts(t)
	for _, edit := range edits {
		mutation.OnceIn(t, filepath.Join(dir, "dlpackgen_python", edit[0]), edit[1], edit[2])
	}
	return dir
}

// fails checks that a script reports a failure of one named case.
func fails(t *testing.T, python, modules, name string, args ...string) {
	t.Helper()
	out, log, err := script(python, modules, args...)
	require.Error(t, err, out)
	if strings.HasPrefix(err.Error(), "signal") {
		return // a crash is a failure too
	}
	assert.Contains(t, out, fmt.Sprintf("FAIL %s", name), "%s\n%s", out, log)
}
