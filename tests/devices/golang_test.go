package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// golang builds the Go program.
func golang(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	testkit.Run(t, "go", append(append([]string{"build", "-o", program}, flags...), "./testdata/golang")...)
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
	"{1 1 false} {2 1 false}",
	"cuda: current_work_stream: there is no device 99; this process sees 3, numbered from 0",
	"PointerAttributes 1 0",
	"StreamFromDLPack 1 0",
	"CurrentWorkStream 1 0",
	"StreamWait 1 0",
	"KeepUntil 1 0",
	"Copy 1 0",
	"StreamSynchronize 1 0",
	"Allocate and Deallocate 2 1", // the extents of the request
	"a borrow of a device's tensor adds 1",
	"cuda: allocate: there is no device 9; this process sees 3, numbered from 0",
	"cuda: stream_from_dlpack: the number 0 is not a stream of CUDA; a stream is None, -1, a default " +
		"stream's number, or a handle",
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
	assert.Contains(t, out[0],
		"probe {0 0} cuda: the driver is not installed, or not in the library path: libcuda.so.1")
	assert.Equal(t, "code 1 0", out[1])
}

func TestGoUnderItsDetectors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the race detector")
	}
	out := runGolang(t, golang(t, "-race", "-trimpath"), standin(t, "-DQUIET"))
	assert.Equal(t, "together", out[len(out)-1])
}

// Without cgo, programs build, and every call returns an error.
func TestGoWithoutCgo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program in Go")
	}
	program := golang(t, "-tags", "nodevice")
	const want = "probe {0 0} cuda: this program was built without cgo, or with the tag nodevice; build it with cgo"
	assert.Equal(t, []string{want, "code 1 0"}, runGolang(t, program, standin(t)))
	elsewhere := [][]string{{"CGO_ENABLED=0"}}
	if tier.IsNightly() {
		elsewhere = append(elsewhere, []string{"CGO_ENABLED=0", "GOOS=darwin", "GOARCH=arm64"})
	}
	for _, env := range elsewhere {
		cmd := exec.Command("go", "build", "../../backends/...")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%v %s", env, out)
	}
}

// A view and an owner are pointers of two types in every package, and cannot be confused.
func TestGoRejectsAPointerToAnotherStruct(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs in Go")
	}
	for call, reason := range map[string]string{
		"cuda.Copy(view, view, cuda.Stream{})":    "",
		"cuda.Copy(owned, view, cuda.Stream{})":   "owned",
		"cuda.Copy(view, bare, cuda.Stream{})":    "bare",
		"rocm.Deallocate(view)":                   "view",
		"oneapi.KeepUntil(view, oneapi.Stream{})": "view",
		"shm.Copy(owned, view)":                   "owned",
		"shm.Send(nil, owned, 0)":                 "owned",
	} {
		out, err := compileGo(t, call)
		if reason == "" {
			require.NoError(t, err, out)
			continue
		}
		assert.Error(t, err, call)
		assert.Contains(t, out, "cannot use "+reason+" (", call)
	}
}

// compileGo compiles a program that calls a function with a view and with Allocate's result.
func compileGo(t *testing.T, call string) (output string, err error) {
	t.Helper()
	name, _, _ := strings.Cut(call, ".")
	text := "package main\n\nimport (\n\t\"unsafe\"\n\n\t\"github.com/dlpackgen/dlpackgen/backends/device\"\n" +
		"\t\"github.com/dlpackgen/dlpackgen/backends/" + name + "\"\n)\n\nfunc main() {\n" +
		"\tvar view device.TensorPointer\n\tvar owned device.ManagedPointer\n\tvar bare unsafe.Pointer\n" +
		"\t_, _, _ = view, owned, bare\n\t_ = " + call + "\n}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return testkit.Vet(".", []string{"CGO_ENABLED=0"}, file)
}

func TestGoForWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package in Go")
	}
	cmd := exec.Command("go", "build", "../../backends/cuda")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=windows", "GOARCH=amd64",
		"CC="+testtool.Require(t, "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"))
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// twice links two copies of the package, generated for two import paths, into one program.
func twice(t *testing.T, paths ...string) error {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/two\n\ngo 1.23\n"), 0o600))
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	for i, path := range paths {
		files, err := device.CUDA.Emit(&emit.Model{Release: release, Options: map[string]string{"import": path}})
		require.NoError(t, err)
		folder := filepath.Join(dir, string(rune('a'+i)))
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "conformance"), 0o755))
		for _, f := range files {
			require.NoError(t, os.WriteFile(filepath.Join(folder, f.Path), f.Data, 0o600))
		}
	}
	text := "package main\n\nimport (\n\ta \"example.com/two/a\"\n\tb \"example.com/two/b\"\n)\n\nfunc main() { " +
		"println(a.Table() != b.Table()) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		assert.Equal(t, "true\n", string(out))
	}
	return err
}

func TestTwoCopiesInOneProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in Go")
	}
	assert.NoError(t, twice(t, "example.com/two/a", "example.com/two/b"))
	assert.Error(t, twice(t, "example.com/two/a", "example.com/two/a"), "one name for both does not link")
}
