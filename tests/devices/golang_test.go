package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golang builds the program in Go.
func golang(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	run(t, "go", append(append([]string{"build", "-o", program}, flags...), "./testdata/golang")...)
	return program
}

func runGolang(t *testing.T, program, driver string) []string {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

var inGo = []string{
	"probe {13000 3} <nil>",
	"imported [3 4] CUDA:1 {2 1} 1 48",
	"PointerInfo 1 0",
	"StreamFromDLPack 1 0",
	"OrderAfter 1 0",
	"KeepUntil 1 0",
	"Copy 1 0",
	"Finish 1 0",
	"Alloc and Free 2 1", // the extents of the request
	"cuda: alloc: there is no device 9; this process sees 3, numbered from 0",
	"cuda: stream_from_dlpack: the number 0 stands for no stream of CUDA; a stream is None, -1, a default stream's number, or a handle",
	"<nil> <nil>",
	"together",
}

func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program in Go")
	}
	program := golang(t)
	assert.Equal(t, inGo, runGolang(t, program, standin(t, "-DQUIET")))
	out := runGolang(t, program, "")
	require.Len(t, out, 2)
	assert.Contains(t, out[0], "probe {0 0} cuda: the driver is not installed, or not where libraries are found: libcuda.so.1")
	assert.Equal(t, "code 1 0", out[1])
}

func TestGoUnderItsDetectors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the race detector")
	}
	out := runGolang(t, golang(t, "-race", "-gcflags=all=-d=checkptr"), standin(t, "-DQUIET"))
	assert.Equal(t, "together", out[len(out)-1])
}
