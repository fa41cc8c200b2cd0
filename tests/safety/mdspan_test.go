package safety

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// wideSpans runs mdspan.cpp with headers that may be wrong.
func wideSpans(t *testing.T, headers string) error {
	t.Helper()
	clang := testtool.Require(t, "clang++-19", "clang-19 libc++-19-dev libc++abi-19-dev")
	if testing.Short() {
		t.Skip("compiles with another standard library, and -short was given")
	}
	program := filepath.Join(t.TempDir(), "mdspan")
	out, err := exec.Command(clang, "-std=c++23", "-stdlib=libc++", "-fsanitize=undefined", "-fsanitize-trap=all",
		"-Wall", "-Wextra",
		"-I", headers, "-o", program, filepath.Join("module", "mdspan.cpp")).CombinedOutput()
	if err != nil {
		t.Skipf("needs a library with std::mdspan: apt-get install libc++-19-dev libc++abi-19-dev\n%s", out)
	}
	return exec.Command(program).Run()
}

func TestWideStridesAsMdspan(t *testing.T) {
	require.NoError(t, wideSpans(t, headers(t)))
	for old, changed := range map[string]string{
		"strides[i] > INT64_MAX / shape[i] ? INT64_MAX : ": "",
		"? INT64_MAX : ": "? 0 : ",
	} {
		assert.Error(t, wideSpans(t, mutant(t, "dlpackgen/mdspan.hpp", old, changed)))
	}
}
