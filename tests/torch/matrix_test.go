package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// nanobind adds the module withnanobind of tests/clients to a folder.
func nanobind(t *testing.T, to torches, dir string) {
	t.Helper()
	if !testtool.Has(to.Python, "nanobind", "jax", "paddle", "ml_dtypes", "tvm_ffi") {
		t.Skip("needs jax, paddle, ml_dtypes, tvm-ffi and nanobind: pip install -r tests/requirements-frameworks.txt")
	}
	root := testtool.RequirePackage(t, to.Python, "nanobind", "make setup")
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++17", testkit.Level(), "-fPIC",
		"-shared",
		"-fvisibility=hidden", "-DNDEBUG", "-I"+to.Include,
		"-I"+filepath.Join(root, "include"), "-I"+filepath.Join(root, "ext", "robin_map", "include"),
		"../clients/module/nanobind.cpp",
		filepath.Join(root, "src", "nb_combined.cpp"), "-o", filepath.Join(dir, "withnanobind.so")).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// rows returns the cells of a Markdown table, whose first line has the given beginning.
func rows(text, begins string) (all [][]string) {
	_, table, _ := strings.Cut("\n"+text, "\n"+begins)
	for _, line := range strings.Split(begins+table, "\n") {
		if strings.HasPrefix(line, "| ") { // libraries may print in between
			all = append(all, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	return all
}

// With the table installed, every library handles every tensor as docs/records/clients.md lists
// without it. The only difference is the exception class of tvm-ffi for rejected torch tensors,
// which is then BufferError, as the rules require.
func TestTheClientMatrixWithTheTable(t *testing.T) {
	tier.OnlyNightly(t)
	to, dir := modules(t)
	nanobind(t, to, dir)
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "records", "clients.md"))
	require.NoError(t, err)
	out, err := script(to, dir, nil, "../clients/matrix.py", "--install=dlpackgen_torch")
	require.NoError(t, err, out)
	const begins = "| producer | tensor |"
	before, after := rows(string(text), begins), rows(out, begins)
	require.Len(t, after, len(before))
	names, raised := before[0], 0
	for i, row := range before {
		require.Len(t, after[i], len(row))
		for j, cell := range row {
			if row[0] == "torch" && names[j] == "tvm-ffi" && strings.HasPrefix(cell, "- ") && after[i][j] == "-" {
				raised++
				continue
			}
			assert.Equal(t, cell, after[i][j], "%s: %s to %s", row[0], row[1], names[j])
		}
	}
	assert.Greater(t, len(before), 250)
	assert.Positive(t, raised, "the table was used")
}
