package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/need"
)

// module builds the module of the generated files in a folder, and gives the folder that it is
// imported from.
func module(t *testing.T, python, dir string, flags ...string) string {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "tried"), 0o700))
	stub, err := os.ReadFile(filepath.Join(dir, "python/_kernels.pyi"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "tried/_kernels.pyi"), stub, 0o600))
	headers, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])").Output()
	require.NoError(t, err)
	args := append([]string{"-std=c11", "-O1", "-g", "-fPIC", "-shared", "-DPy_LIMITED_API=0x030B0000",
		"-I" + dir + "/c", "-I" + dir + "/python", "-I" + dir + "/kernels", "-isystem", strings.TrimSpace(string(headers)),
		"-o", filepath.Join(home, "tried/_kernels.abi3.so")}, flags...)
	args = append(args, dir+"/python/_kernels.c", dir+"/kernels/kernels.c", "testdata/author.c", "-pthread")
	out, err := exec.Command(need.Program(t, "gcc", "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return home
}

// runs calls the kernels from Python, with the mutant of a number.
func runs(python, home string, mutant int, libraries ...string) (string, error) {
	return runsWith(python, home, []string{mutation.Env(mutant)}, libraries...)
}

func runsWith(python, home string, env []string, libraries ...string) (string, error) {
	cmd := exec.Command(python, append([]string{"called.py"}, libraries...)...)
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+home), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The module has no warning, and every function does what its description says.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := need.Python(t)
	dir := t.TempDir()
	generate(t, "testdata/kernels.yaml", dir)
	home := module(t, python, dir, "-Wall", "-Wextra", "-Werror")
	var libraries []string
	if exec.Command(python, "-c", "import torch").Run() == nil {
		libraries = append(libraries, "torch")
	}
	out, err := runs(python, home, 0, libraries...)
	require.NoError(t, err, out)
	assert.Contains(t, out, " tests")
}

// Neither AddressSanitizer nor UndefinedBehaviorSanitizer finds anything in the module.
func TestPythonSanitized(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := need.Python(t)
	dir := t.TempDir()
	generate(t, "testdata/kernels.yaml", dir)
	home := module(t, python, dir, sanitized...)
	library, err := exec.Command("gcc", "-print-file-name=libasan.so").Output()
	require.NoError(t, err)
	env := []string{"LD_PRELOAD=" + strings.TrimSpace(string(library)), "ASAN_OPTIONS=detect_leaks=0"}
	out, err := runsWith(python, home, env)
	require.NoError(t, err, out)
}

// pythonMistakes are those of the module's own C; for the base, see tests/python.
var pythonMistakes = map[string]mistake{
	"a name may come twice":      {"if (i >= 0 && !given[i]) {", "if (i >= 0) {"},
	"surplus arguments are lost": {"if (came > positional) {", "if (0) {"},
	"integers are cut":           {"if (bits == 64 || (*number >= low && *number <= high)) return 0;", "return 0;"},
	"floats are cut":             {"*number - *number != 0 || (*number <= most && *number >= -most)", "1"},
	"texts end at a NUL":         {"if (strlen(*text) == (size_t)length) return 0;", "return 0;"},
	"nothing is copied":          {"if (dlpackgen_is_contiguous(from) || bits % 8 != 0) return 0;", "return 0;"},
	"lists leak":                 {"Py_DECREF(items);", ""},
	"negative strides are lost":  {"at + i * from->strides[d] * (int64_t)bytes", "at + i * (from->strides[d] < 0 ? 0 : from->strides[d]) * (int64_t)bytes"},
}

// Each mistake fails a test of the script.
func TestMistakesAreSeenFromPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module with all mistakes, and -short was given")
	}
	python := need.Python(t)
	dir := t.TempDir()
	generate(t, "testdata/kernels.yaml", dir)
	var names []string
	var all []mutation.Mutant
	for name, m := range pythonMistakes {
		names, all = append(names, name), append(all, m.of("python/_kernels.c"))
	}
	written := mutation.Write(t, dir, all)
	home := module(t, python, dir, written.Flags...)
	out, err := runs(python, home, 0)
	require.NoError(t, err, out)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, written.Apart, i+1, "it is no statement or expression")
			out, err := runs(python, home, i+1)
			assert.Error(t, err, out)
		})
	}
}

// The example says what it does, in NumPy and, where it is installed, in torch.
func TestTheExample(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python := need.Python(t)
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS("../../examples/kernels")))
	require.NoError(t, os.RemoveAll(filepath.Join(copied, "generated")))
	program := filepath.Join(t.TempDir(), "dlpackgen")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/dlpackgen").CombinedOutput()
	require.NoError(t, err, "%s", out)
	libraries := []string{"numpy"}
	if exec.Command(python, "-c", "import torch").Run() == nil {
		libraries = append(libraries, "torch")
	}
	cmd := exec.Command("sh", append([]string{filepath.Join(copied, "run.sh")}, libraries...)...)
	cmd.Env = append(os.Environ(), "DLPACKGEN="+program, "DLPACKGEN_PYTHON="+python)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, library := range libraries {
		assert.Contains(t, string(out), library+": softmax and axpy agree")
	}
}
