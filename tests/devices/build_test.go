// Package devices tests the backends of backends/ with drivers: a stand-in that records its calls,
// the real one without a device, a toolkit's stub, and no driver.
package devices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// cuda is the folder with the backend.
func cuda(t testing.TB) string { return filepath.Join(golden.Root(t), "backends", "cuda") }

// cudaParts is that folder with each part as a file, for mutants.
func cudaParts(t testing.TB) string { return testkit.Unfolded(t, device.CUDA) }

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "devices")) }

// standin returns the folder of a variant of the stand-in, by its macros.
func standin(t testing.TB, macros ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	return testkit.Built(t, "standin"+strings.Join(macros, ""), func(dir string) {
		args := []string{"-std=gnu11", "-g", testkit.Level(), "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o",
			filepath.Join(dir, "libcuda.so.1")}
		testkit.Run(t, gcc, append(append(args, macros...), "testdata/standin.c", "-lpthread")...)
	})
}

// backEnd is a tested backend: its name, its driver's library, and the features of the stand-in.
type backEnd struct{ name, library, mapped, symbol string }

var cudaEnd = backEnd{"cuda", "libcuda.so.1", "libcuda", "cuInit"}

// macros select the backend in client.c.
func (b backEnd) macros() []string {
	return []string{
		fmt.Sprintf("-DBACKEND_HEADER=%q", "dlpackgen_"+b.name+".h"), "-DBACKEND_TABLE=dlpackgen_" + b.name,
		fmt.Sprintf("-DBACKEND_LIBRARY=%q", b.library), fmt.Sprintf("-DBACKEND_MAPPED=%q", b.mapped),
		fmt.Sprintf("-DBACKEND_SYMBOL=%q", b.symbol),
	}
}

// sources are the C files of the backend in a folder.
func (b backEnd) sources(t testing.TB, source string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source, "*"+b.name+"*.c"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// client returns the program that executes its arguments as steps.
func (b backEnd) client(t testing.TB, source string, flags ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	key := "client" + strings.NewReplacer("/", "_").Replace(source) + strings.Join(flags, "")
	dir := testkit.Built(t, key, func(dir string) {
		var objects []string
		for i, file := range b.sources(t, source) {
			objects = append(objects, filepath.Join(dir, fmt.Sprint(i)+".o"))
			testkit.Run(t, gcc, append(append([]string{"-c", "-I", source, "-o", objects[i]}, testkit.Strict...),
				append(flags, file)...)...)
		}
		args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-I", source, "-o",
			filepath.Join(dir, "client")}, flags...)
		testkit.Run(t, gcc, append(append(append(args, b.macros()...), "testdata/client.c", "-ldl"), objects...)...)
	})
	return filepath.Join(dir, "client")
}

func client(t testing.TB, source string, flags ...string) string {
	t.Helper()
	return cudaEnd.client(t, source, flags...)
}

// steps runs a client with the driver of a folder ("" for none), and returns the output of each
// step.
func steps(t testing.TB, program, driver string, words ...string) []string {
	t.Helper()
	cmd := exec.Command(program, words...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver, "ASAN_OPTIONS=abort_on_error=0",
		"TSAN_OPTIONS=halt_on_error=1")
	return testkit.Lines(t, cmd)
}

// do runs steps with the usual stand-in, after the driver was loaded.
func do(t testing.TB, words ...string) []string {
	t.Helper()
	out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t), append([]string{"probe", "log"}, words...)...)
	require.Greater(t, len(out), 1)
	require.Equal(t, "probe ok 13000 3", out[0])
	return out[2:]
}
