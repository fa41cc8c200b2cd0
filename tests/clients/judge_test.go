package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// forgotten are comparisons without which the matrix would still print "ok".
//
//mutants:in tests/clients/judge.py
var forgotten = []struct{ what, old, to string }{
	{"the elements", "got.bytes != case.truth()", "False"},
	{"cases without expected elements", "case.truth is None or ", ""},
	{"tensors without memory", "got is None or not got.has_data", "got is None"},
	{"consumers that return nothing", "got is None or ", ""},
	{"rejections that are expected", "if case.rejected:", "if False:"},
	{"the shape", "if got.shape != case.shape:", "if False:"},
	{"the order of the extents", "got.shape != case.shape", "sorted(got.shape) != sorted(case.shape)"},
	{"the number of dimensions", "got.shape != case.shape", "any(a != b for a, b in zip(got.shape, case.shape))"},
	{"the data type", "if got.dtype != case.dtype:", "if False:"},
	{"bits and lanes", "got.dtype != case.dtype", "got.dtype[:1] != case.dtype[:1]"},
	{"the lanes", "got.dtype != case.dtype", "got.dtype is None or got.dtype[:2] != case.dtype[:2]"},
	{"data types that the consumer cannot name", "got.dtype != case.dtype", "got.dtype and got.dtype != case.dtype"},
	{"the device", "got.device != (1, 0)", "False"},
	{"the number of the device", "got.device != (1, 0)", "got.device[0] != 1"},
	{"the read-only flag", "got.read_only is not None and got.read_only != case.read_only", "False"},
	{"the direction in which the read-only flag is wrong", "WRITABLE if case.read_only else READ_ONLY", "READ_ONLY"},
	{"libraries without the read-only flag", "got.read_only is not None and ", ""},
	{"the class of an exception", "re.fullmatch(kind, type(error).__name__) and ", ""},
	{"classes that derive from it", "re.fullmatch(kind, type(error).__name__)",
		"kind in [c.__name__ for c in type(error).__mro__]"},
	{"the text of an exception", " and re.search(text, str(error))", ""},
	{"unexpected exceptions", "    return f\"raises {name}\"", "    return REJECTED"},
	{"exceptions other than BufferError", `REJECTED if name == "BufferError" else f"{REJECTED} {name}"`, "REJECTED"},
}

func TestMutantsOfTheJudgeAreSeen(t *testing.T) {
	python := testtool.RequirePython(t)
	out, log, err := script(python, t.TempDir(), "judge_check.py")
	require.NoError(t, err, "%s\n%s", out, log)
	assert.Equal(t, 33, strings.Count(out, "ok "), out)
	text, err := os.ReadFile("judge.py")
	require.NoError(t, err)
	for _, f := range forgotten {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			wrong := mutation.Once(t, string(text), f.old, f.to)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "judge.py"), []byte(wrong), 0o600))
			for _, name := range []string{"judge_check.py", "cases.py", "expected.py", "torch_cases.py"} {
				same, err := os.ReadFile(name)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), same, 0o600))
			}
			out, log, err := script(python, dir, filepath.Join(dir, "judge_check.py"))
			require.Error(t, err, "nothing notices: %s", out)
			assert.Regexp(t, "AssertionError: expectation|AttributeError|TypeError", log)
		})
	}
}

// The same outcomes are expected with another table: it is installed before the first case, and its
// mistakes are found.
func TestTheMatrixWithAnotherTable(t *testing.T) {
	python := environment(t)
	modules := build(t, python, generated(t))
	needs(t, python, "numpy", "ml_dtypes")
	installs := map[string]string{
		"harmless": "def install():\n    print('installed')\n",
		"spoils": "import clients\n\ndef install():\n    read = clients.read\n    clients.read = lambda x: " +
			"((*read(x)[0][:3], (9, 9, 9), *read(x)[0][4:]), read(x)[1])\n",
		"exports": "import clients\n\ndef install():\n    clients.export = lambda x: x\n",
	}
	for name, text := range installs {
		require.NoError(t, os.WriteFile(filepath.Join(modules, name+".py"), []byte(text), 0o600))
	}
	run := func(args ...string) (out, log string, err error) {
		return script(python, modules, append([]string{"matrix.py", "--consumers=numpy"}, args...)...)
	}
	plain, log, err := run("numpy")
	require.NoError(t, err, log)
	assert.Contains(t, plain, "| numpy | masked | reject | - | wrong | - |\n")
	out, log, err := run("--install=harmless", "numpy")
	require.NoError(t, err, log)
	assert.Equal(t, "installed\n"+plain, out)
	_, log, err = run("--install=spoils", "numpy")
	assert.Error(t, err)
	assert.Contains(t, log, "numpy: float32 to ours: dtype, expected ok")
	_, log, err = run("--install=exports", "numpy")
	assert.Error(t, err)
	assert.Contains(t, log, "numpy: masked to ours to numpy: wrong, expected -")
	_, log, err = run("--conforms=numpy", "numpy")
	assert.Error(t, err)
	assert.Contains(t, log, "numpy: masked to numpy: wrong, expected -")
	out, log, err = script(python, modules, "ours.py", "--install=spoils", "numpy", "float32")
	assert.Error(t, err, log)
	assert.Contains(t, out, "FAIL read numpy: float32: AssertionError: dtype")
}
