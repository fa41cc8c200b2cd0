package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// found is a mypy error: its line and its code.
var found = regexp.MustCompile(`(?m)^wrong\.py:(\d+): error: .*\[([a-z-]+)\]$`)

// A type checker accepts the valid calls of a described module with the types of their results, and
// rejects each invalid one.
func TestStubsUnderMypy(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the types of NumPy for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	mypy := filepath.Join(golden.Root(t), ".cache/ci/bin/mypy")
	if _, err := os.Stat(mypy); err != nil {
		t.Skip("needs mypy in .cache/ci: make setup")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	wrong := read(t, "testdata/stubs/wrong.py")
	for name, text := range map[string]string{
		"tried/__init__.py": "", "tried/py.typed": "", "tried/_kernels.pyi": read(t, dir+"/python/_kernels.pyi"),
		"right.py": read(t, "testdata/stubs/right.py"), "wrong.py": wrong,
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "typed/tried"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "typed", name), []byte(text), 0o600))
	}
	interpreter, err := filepath.Abs(python)
	require.NoError(t, err)
	cmd := exec.Command(mypy, "--strict", "--no-error-summary", "--cache-dir", dir+"/cache", "--python-executable",
		interpreter, "right.py", "wrong.py", "tried/_kernels.pyi")
	cmd.Dir = filepath.Join(dir, "typed")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.NotContains(t, string(out), "right.py")
	assert.NotContains(t, string(out), "_kernels.pyi")
	codes := map[string]string{}
	for _, m := range found.FindAllStringSubmatch(string(out), -1) {
		codes[m[1]] += m[2] + " "
	}
	calls := regexp.MustCompile(`# ([a-z-]+)$`)
	for i, line := range strings.Split(wrong, "\n") {
		number := strconv.Itoa(i + 1)
		if code := calls.FindStringSubmatch(line); code != nil {
			assert.Contains(t, codes[number], code[1], "%s\n%s", line, out)
		} else {
			assert.Empty(t, codes[number], line)
		}
	}
	assert.GreaterOrEqual(t, len(codes), 22)
}
