package devices

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
)

// The C++ wrapper, under AddressSanitizer and without compiler warnings.
func TestCxx(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	dir, gen := t.TempDir(), filepath.Join(golden.Root(t), "gen")
	object, program := filepath.Join(dir, "cuda.o"), filepath.Join(dir, "program")
	testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=c11", "-g", "-fsanitize=address", "-c", "-o", object,
		source(t))
	flags := []string{"-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", cuda(t), "-I",
		filepath.Join(gen, "c"), "-I", filepath.Join(gen, "cpp"), "testdata/cxx.cpp"}
	testkit.Run(t, testtool.Require(t, "g++", "g++"),
		append(flags, "-g", "-fsanitize=address", "-o", program, object, "-ldl")...)
	if clang, err := exec.LookPath("clang++-16"); err == nil {
		testkit.Run(t, clang, append(flags, "-fsyntax-only")...)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+standin(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, []string{
		"cuda 3", "2 1", "0x1",
		"10 0 cuda: stream_from_dlpack: the number 0 is not a stream of CUDA; a stream is None, -1, a " +
			"default stream's number, or a handle",
		"the backend's table and dlpackgen_backend.hpp have different versions", "",
	}, strings.Split(string(out), "\n"))
}
