package macros

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// described has arguments with the names of function-like macros, which variables can have.
const described = `version: 1
dlpack: "1.3"
targets: {c: {}, kernels: {}, cpp: {single: %v}}
kernels:
  clip:
    types: {T: [float32, float64]}
    args: {x: "T[n]", min: T, max: T, free: int, check: "list[int]", y: "T[n]? = None"}
    returns: {made: "T[n]", most: T}
    symbol: "macros_clip_{T}"
`

// kernelsIn generates the callers of the described kernel, with target cpp in one of its forms.
func kernelsIn(t *testing.T, single bool) (dir string, folders []string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, described, single), 0o600))
	testkit.Generate(t, file, dir)
	for _, target := range []string{"c", "kernels", "cpp"} {
		folders = append(folders, filepath.Join(dir, target))
	}
	return dir, folders
}

func TestHeadersOfKernels(t *testing.T) {
	t.Parallel()
	dir, folders := kernelsIn(t, false)
	header := []string{filepath.Join(dir, "kernels", "kernels.h")}
	assertBears(t, unitOf(t, "C", header, folders[:2], inC), inTurn())
	header = []string{filepath.Join(dir, "cpp", "kernels.hpp")}
	assertBears(t, unitOf(t, "C++", header, folders, inCpp), inTurn())
}

func TestTheSingleHeader(t *testing.T) {
	t.Parallel()
	dir, folders := kernelsIn(t, true)
	headers := []string{filepath.Join(dir, "cpp", "dlpackgen.hpp"), filepath.Join(dir, "cpp", "kernels.hpp")}
	assertBears(t, unitOf(t, "C++", headers, folders, inCpp), inTurn())
}
