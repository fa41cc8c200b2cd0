package python

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
)

// example is the folder of the example's package.
func example(t *testing.T) string {
	t.Helper()
	return filepath.Join(golden.Root(t), "examples", "py-kernel", "src", "pykernel")
}

// kernel returns a folder with the example's module and the scripts' modules.
func kernel(t *testing.T) (b builder, dir string) {
	t.Helper()
	b, dir = newBuilder(t), t.TempDir()
	for _, name := range []string{"checked", "untrusted"} {
		require.NoError(t, os.Symlink(filepath.Join(modules(t), name+".abi3.so"), filepath.Join(dir, name+".abi3.so")))
	}
	b.build(t, dir, "_kernel", filepath.Join(example(t), "_kernel.c"))
	return b, dir
}

// The example's stub matches its module.
func TestTheStubSaysWhatTheModuleHas(t *testing.T) {
	b, dir := kernel(t)
	runs(t, b.python, dir, "stub.py", "STUB="+filepath.Join(example(t), "_kernel.pyi"))
	assert.FileExists(t, filepath.Join(example(t), "py.typed"), "without it no type checker looks at the stub")
}

func TestTheStubMatchesTheModule(t *testing.T) {
	b, dir := kernel(t)
	text, err := os.ReadFile(filepath.Join(example(t), "_kernel.pyi"))
	require.NoError(t, err)
	//mutants:in examples/py-kernel/src/pykernel/_kernel.pyi
	for name, m := range map[string]struct{ old, replacement string }{
		"no Python":               {"class Tensor:", "class Tensor"},
		"a function is missing":   {"def softmax_(x: T) -> T: ...\n", ""},
		"there is another one":    {"def softmax_(", "def hardmax(x: T) -> T: ...\ndef softmax_("},
		"a type is a function":    {"def softmax_(x: T) -> T: ...", "class softmax_: ..."},
		"parameters have names":   {"def softmax(x: T)", "def softmax(y: T)"},
		"there are more":          {"def softmax(x: T)", "def softmax(x: T, y: T)"},
		"there are fewer":         {"def softmax(x: T)", "def softmax()"},
		"they can be left out":    {"def softmax(x: T)", "def softmax(x: T = ...)"},
		"they have no keyword":    {"def softmax(x: T)", "def softmax(x: T, /)"},
		"a hint is missing":       {"def softmax(x: T)", "def softmax(x)"},
		"a result has no hint":    {"def softmax(x: T) -> T:", "def softmax(x: T):"},
		"a method is missing":     {"    def __dlpack_device__(self) -> tuple[int, int]: ...\n", ""},
		"a keyword is missing":    {"        copy: bool | None = None,\n", ""},
		"there is another":        {"        copy:", "        other: int = 0,\n        copy:"},
		"keywords have places":    {"        *,\n", ""},
		"the type can be derived": {"@final\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := filepath.Join(t.TempDir(), "wrong.pyi")
			require.NoError(t, os.WriteFile(wrong, []byte(mutation.Once(t, string(text), m.old, m.replacement)), 0o600))
			out, err := script(t, b.python, dir, []string{"STUB=" + wrong}, "stub.py")
			assert.Error(t, err, out)
		})
	}
}
