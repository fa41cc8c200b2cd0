package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// threaded builds the program of threads with a backend, and runs it under ThreadSanitizer; it
// returns the output and whether it succeeded.
func (b backEnd) threaded(t *testing.T, source, standin string, macros ...string) (string, error) {
	t.Helper()
	gcc, dir := testtool.Require(t, "gcc", "gcc"), t.TempDir()
	driver := filepath.Join(dir, b.library)
	// Otherwise, the loader allocates a thread's variables, with a lock that ThreadSanitizer does
	// not recognize.
	testkit.Run(t, gcc, append([]string{"-std=gnu11", "-g", testkit.Level(), "-DQUIET", "-ftls-model=initial-exec",
		"-fsanitize=thread", "-fPIC", "-shared", "-o", driver, standin, "-lpthread"}, macros...)...)
	program := filepath.Join(dir, "threads")
	args := append([]string{"-std=gnu11", "-g", testkit.Level(), "-fsanitize=thread", "-I", source, "-o", program,
		"../../internal/testkit/testdata/threads.c", "-ldl", "-lpthread"}, b.macros()...)
	testkit.Run(t, gcc, append(append(args, macros...), b.sources(t, source)...)...)
	cmd := exec.Command("setarch", "-R", program) // ThreadSanitizer of older compilers fails with more random addresses
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "TSAN_OPTIONS=halt_on_error=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Threads start the driver together, and allocate, order, keep, copy and free.
func TestThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	testtool.Require(t, "setarch", "util-linux")
	out, err := cudaEnd.threaded(t, cuda(t), "testdata/standin.c")
	require.NoError(t, err, out)
	assert.Equal(t, "alive 0\n", out)
	out, err = rocmEnd.threaded(t, rocm(t), "testdata/standin_hip.c", hip6)
	require.NoError(t, err, out)
	assert.Equal(t, "alive 0\n", out)
	out, err = acmeEnd.threaded(t, acme(t), "testdata/acme.c", "-DDEVICES=2", "-DOTHER=0")
	require.NoError(t, err, out)
	assert.Equal(t, "alive 0\n", out)
}
