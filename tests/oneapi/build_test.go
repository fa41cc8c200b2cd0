// Package oneapi tests the oneAPI backend with drivers: a stand-in that records its calls, Level
// Zero's loader without a driver, Intel's own driver with simulated cards, SYCL on a CPU, and no
// driver. It also exchanges tensors with dpnp.
package oneapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// folder is the backend's folder.
func folder(t testing.TB) string { return filepath.Join(golden.Root(t), "backends", "oneapi") }

// parts is that folder with each part as a file, for mutants.
func parts(t testing.TB) string { return testkit.Unfolded(t, device.OneAPI) }

// cache is the folder in which a test keeps fetched files.
func cache(t testing.TB, name string) string { return filepath.Join(golden.Root(t), ".cache", name) }

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "oneapi")) }

// client returns the program that executes its arguments as steps on the backend over Level Zero.
func client(t testing.TB, flags ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	dir := testkit.Built(t, "client"+strings.Join(flags, ""), func(dir string) {
		object := filepath.Join(dir, "oneapi.o")
		testkit.Run(t, gcc, append(append([]string{"-c", "-I", parts(t), "-o", object}, testkit.Strict...),
			append(flags, filepath.Join(folder(t), "dlpackgen_oneapi.c"))...)...)
		args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-I", parts(t), "-o",
			filepath.Join(dir, "client")}, flags...)
		testkit.Run(t, gcc, append(args, "testdata/client.c", "testdata/made_levelzero.c", object, "-ldl",
			"-lpthread")...)
	})
	return filepath.Join(dir, "client")
}

// environ is the environment without the variables that control Level Zero and SYCL, with
// additional ones; empty values are omitted, because SYCL rejects them.
func environ(more ...string) []string {
	return slices.DeleteFunc(append(os.Environ(), more...), func(s string) bool {
		name, value, _ := strings.Cut(s, "=")
		ours := name == "ONEAPI_DEVICE_SELECTOR" || name == "ZE_FLAT_DEVICE_HIERARCHY" || strings.HasPrefix(name,
			"OCL_ICD_")
		return ours && (value == "" || !slices.Contains(more, s))
	})
}

// output runs a command of the client, and returns the output of each step.
func output(t testing.TB, cmd *exec.Cmd, env ...string) []string {
	t.Helper()
	cmd.Env = environ(env...)
	return testkit.Lines(t, cmd)
}

// scenario is steps of the client, and their output.
type scenario struct {
	name  string
	steps []string
	want  []string // regular expressions, one per line
}

func (s scenario) fits(lines []string) bool { return testkit.Fits(s.want, lines) }
