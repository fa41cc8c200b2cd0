package callers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

const table = "testdata/mistakes/table.yaml"

// mistaken builds the libraries of the table of mistakes, and returns their folders.
func mistaken(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, name := range []string{"mixed", "written"} {
		folders = append(folders, testkit.Built(t, name, func(dir string) {
			testkit.Generate(t, "testdata/mistakes/"+name+".yaml", dir)
			files, err := filepath.Glob(filepath.Join(dir, name, "*kernels*.c"))
			require.NoError(t, err)
			args := append(files, filepath.Join(dir, "kernels", "kernels.c"), "testdata/mistakes/author.c", "-DAUTHOR_"+name,
				"-I"+filepath.Join(dir, name))
			compile(t, dir, filepath.Join(dir, name, "_kernels.abi3.so"), args...)
		}))
	}
	return folders
}

// compared runs mistaken.py.
func compared(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path := strings.Join(append(mistaken(t), "../onnxruntime"), ":")
	cmd := exec.Command(testtool.RequirePython(t), append([]string{"-W", "ignore", "mistaken.py"}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A mistake is the same sentence through every host, except in the cells of the table that say why.
func TestEveryMistakeThroughEveryHost(t *testing.T) {
	need(t)
	out, err := compared(t, table)
	require.NoError(t, err, out)
	assert.Contains(t, out, " mistakes through 9 hosts")
}

// Cells that are wrong are seen.
func TestTheTableIsCompared(t *testing.T) {
	for _, change := range [][3]string{
		{"expected 2 dimensions, got 1'", "expected 2 dimensions'", "python, rank"},
		{"error: 'ValueError: mix(): expected times > 0", "error: 'TypeError: mix(): expected times > 0", "python, condition"},
		{"'mix(X, W, P, 2.0, 1)'", "'mix(X, W, P, 2.0, 0)'", "python, no mistake"},
		{"'mix(X, W, P, 2.0, 102)'", "'mix(X, W, P, 2.0, 2)'", "python, status with a text"},
	} {
		data, err := os.ReadFile(table)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(data), change[0]), change[0])
		file := filepath.Join(t.TempDir(), "table.yaml")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), change[0], change[1], 1)), 0o600))
		out, err := compared(t, file, "python")
		assert.Error(t, err)
		assert.Contains(t, out, change[2]+"\n  want ")
		assert.Equal(t, 1, strings.Count(out, "  want "), out)
	}
}

// What the table cites of the hosts is read.
func TestCitationsAreRead(t *testing.T) {
	need(t)
	for _, change := range [][2]string{{"function_schema.h:138", "function_schema.h:137"},
		{"'Cannot export readonly array'", "'Cannot import readonly array'"}} {
		data, err := os.ReadFile(table)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(data), change[0]))
		file := filepath.Join(t.TempDir(), "table.yaml")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), change[0], change[1], 1)), 0o600))
		out, err := compared(t, file)
		assert.Error(t, err)
		assert.Contains(t, out, " does not have ")
	}
}
