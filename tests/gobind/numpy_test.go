package gobind

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// requireNumPy returns a Python with NumPy 2 or newer, or skips the test.
func requireNumPy(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the example measures its memory by /proc")
	}
	python := testtool.RequirePython(t)
	if !isNumPy2(python) {
		t.Skipf("needs NumPy 2 in %s: make setup, or set DLPACKGEN_PYTHON", python)
	}
	return python
}

var withNumPy2 sync.Map // bool by Python

// isNumPy2 imports NumPy once for each Python.
func isNumPy2(python string) bool {
	isNew, isKnown := withNumPy2.Load(python)
	if !isKnown {
		version, err := exec.Command(python, "-c", "import numpy; print(numpy.__version__)").Output()
		isNew = err == nil && !strings.HasPrefix(string(version), "1.")
		withNumPy2.Store(python, isNew)
	}
	return isNew.(bool)
}

// runExample runs the example; env is added to its environment.
func runExample(python, root string, env []string, arguments ...string) (string, error) {
	cmd := exec.Command(filepath.Join(root, "examples", "go-numpy", "run.sh"), arguments...)
	cmd.Env = append(append(os.Environ(), "DLPACKGEN_PYTHON="+python, "GOFLAGS=-trimpath"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestGoNumPy(t *testing.T) {
	python := requireNumPy(t)
	rounds := "100000"
	if testing.Short() {
		rounds = "1000"
	}
	out, err := runExample(python, golden.Root(t), nil, rounds)
	require.NoError(t, err, out)
	assert.Equal(t, 13, strings.Count(out, "\nok  "), out)
	assert.Contains(t, out, rounds+" rounds")
	assert.True(t, strings.HasSuffix(out, "all is given back\n"), out)
}

// The example's checks detect mistakes: each of these breaks the library in one place.
func TestGoNumPyFindsWhatIsWrong(t *testing.T) {
	tier.OnlyNightly(t)
	skipShort(t)
	python := requireNumPy(t)
	root := golden.Root(t)
	file := filepath.Join(root, "examples", "go-numpy", "main.go")
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	//mutants:in examples/go-numpy/main.go
	tests := map[string]struct{ old, replacement, says string }{
		"a tensor is never released": {"managed.Release()", "_ = managed",
			"memory_of_go_comes_back_through_numpy left something behind"},
		"memory is copied": {"p, err := dlpack.ExportWith(m.data, m.options)",
			"p, err := dlpack.ExportWith(append([]float64{}, m.data...), m.options)",
			"in numpy_sees_the_memory_of_go"},
		"the flag is lost":     {"m.options.Flags = dlpack.FlagReadOnly", "", "in numpy_honours_the_flag_of_go"},
		"the strides are lost": {"m.options.Strides = []int64{1, int64(rows)}", "", "in strides_of_go_are_kept"},
		"read-only data is written": {"dlpack.WritableData[float64]", "dlpack.Data[float64]",
			"did not raise 'read-only'"},
		"Go's memory grows": {"h.Delete()\n", "kept = append(kept, make([]byte, 100))\n\th.Delete()\n",
			"bytes more after"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wrong := filepath.Join(t.TempDir(), "main.go")
			text := mutant.Once(t, string(source), test.old, test.replacement) + "\nvar kept [][]byte\n"
			require.NoError(t, os.WriteFile(wrong, []byte(text), 0o600))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: wrong}})
			require.NoError(t, err)
			overlayFile := filepath.Join(t.TempDir(), "overlay.json")
			require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
			out, err := runExample(python, root, []string{"GOFLAGS=-trimpath -overlay=" + overlayFile}, "50000")
			require.Error(t, err, out)
			assert.Contains(t, out, test.says)
		})
	}
}
