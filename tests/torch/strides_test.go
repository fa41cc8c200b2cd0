package torch

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// strides compiles and runs strides.cpp, which stops at the first undefined behaviour.
func strides(t *testing.T, headers string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "strides")
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++17", testkit.Level(),
		"-fsanitize=undefined",
		"-fno-sanitize-recover=all",
		"-I", filepath.Join(generated(t), "..", "c"), "-I", headers, "-o", program,
		"module/strides.cpp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).CombinedOutput()
	return string(out), err
}

// No sum of strides overflows, however large they are.
func TestStridesThatWrapAround(t *testing.T) {
	out, err := strides(t, generated(t))
	assert.NoError(t, err, out)
	for _, wrong := range [][2]string{
		{"last += static_cast<std::uint64_t>(tensor.shape[i] - 1) * static_cast<std::uint64_t>(tensor.strides[i]);",
			"last += static_cast<std::uint64_t>((tensor.shape[i] - 1) * tensor.strides[i]);"},
	} {
		out, err := strides(t, mutated(t, "strides.hpp", wrong[0], wrong[1]))
		assert.Error(t, err, "%s: %s", wrong[0], out)
	}
}
