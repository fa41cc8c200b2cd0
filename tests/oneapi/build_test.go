// Package oneapi holds oneAPI's back end against drivers: a stand-in that writes down
// what is called, Level Zero's loader without a driver, Intel's own driver where it
// simulates cards, SYCL on a CPU, and none; and exchanges tensors with dpnp.
package oneapi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/need"
)

// folder is the back end's.
func folder(t testing.TB) string { return filepath.Join(golden.Root(t), "backends", "oneapi") }

// cache is where a test keeps what it fetched for the next time.
func cache(t testing.TB, name string) string { return filepath.Join(golden.Root(t), ".cache", name) }

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
}

// shared builds each thing once for all tests: the key names it.
var shared struct {
	sync.Mutex
	dir  string
	once map[string]*sync.Once
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oneapi-")
	if err != nil {
		os.Exit(2)
	}
	shared.dir, shared.once = dir, map[string]*sync.Once{}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// built gives a folder that make filled the first time.
func built(t testing.TB, key string, fill func(dir string)) string {
	t.Helper()
	dir := filepath.Join(shared.dir, key)
	shared.Lock()
	once := shared.once[key]
	if once == nil {
		once = &sync.Once{}
		shared.once[key] = once
	}
	shared.Unlock()
	once.Do(func() {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		fill(dir)
	})
	return dir
}

var strict = []string{"-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic", "-Werror"}

// sanitized is the back end under AddressSanitizer, which finds leaks as well.
var sanitized = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// client gives the program that does to the back end over Level Zero what its
// arguments say.
func client(t testing.TB, flags ...string) string {
	t.Helper()
	gcc := need.Program(t, "gcc", "gcc")
	dir := built(t, "client"+strings.Join(flags, ""), func(dir string) {
		object := filepath.Join(dir, "oneapi.o")
		run(t, gcc, append(append([]string{"-c", "-I", folder(t), "-o", object}, strict...),
			append(flags, filepath.Join(folder(t), "dlpackgen_oneapi.c"))...)...)
		args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-I", folder(t), "-o", filepath.Join(dir, "client")}, flags...)
		run(t, gcc, append(args, "testdata/client.c", "testdata/made_levelzero.c", object, "-ldl", "-lpthread")...)
	})
	return filepath.Join(dir, "client")
}

// environ is the environment without what steers Level Zero and SYCL, with more; what
// is empty is left out, since SYCL refuses it.
func environ(more ...string) []string {
	return slices.DeleteFunc(append(os.Environ(), more...), func(s string) bool {
		name, value, _ := strings.Cut(s, "=")
		ours := name == "ONEAPI_DEVICE_SELECTOR" || name == "ZE_FLAT_DEVICE_HIERARCHY" || strings.HasPrefix(name, "OCL_ICD_")
		return ours && (value == "" || !slices.Contains(more, s))
	})
}

// output runs a command of the client and gives what each step printed.
func output(t testing.TB, cmd *exec.Cmd, env ...string) []string {
	t.Helper()
	cmd.Env = environ(env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	limit := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	limit.Stop()
	require.NoError(t, err, "%v\n%s%s", cmd.Args, out.String(), errs.String())
	require.Empty(t, errs.String(), "%v", cmd.Args)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// fits tells whether lines are those that are wanted, as regular expressions.
func fits(want, lines []string) bool {
	if len(lines) != len(want) {
		return false
	}
	for i := range want {
		if !regexp.MustCompile("^(?:" + want[i] + ")$").MatchString(lines[i]) {
			return false
		}
	}
	return true
}

// scenario is steps of the client, and the lines that come of them.
type scenario struct {
	name  string
	steps []string
	want  []string // regular expressions, one a line
}

func (s scenario) fits(lines []string) bool { return fits(s.want, lines) }
