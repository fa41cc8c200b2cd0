// Package strace runs the real command while the system rejects its calls, or kills it at one: the
// results of internal/tree's tests, which use a simulated disk, must also hold for the real
// program. It contains only tests.
package strace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// strike is the fault at the Nth call of some system calls; N increases until a run has no Nth
// call.
type strike struct {
	calls, fault string
	step         int
	least        int // of calls in every run
}

// A run makes all its calls from one thread, because strace counts per thread. Files are opened
// many times before the first write: these calls are hit in steps.
var strikes = []strike{
	{"renameat,renameat2", "error=EIO", 1, 20},
	{"renameat,renameat2", "signal=KILL", 1, 20},
	{"unlinkat", "error=EROFS", 1, 15},
	{"unlinkat", "signal=KILL", 1, 15},
	{"mkdirat", "error=EACCES", 1, 1},
	{"mkdirat", "signal=KILL", 1, 1},
	{"write", "error=ENOSPC", 1, 20},
	{"write", "signal=KILL", 1, 20},
	{"openat", "error=EACCES", 9, 60},
	{"openat", "signal=KILL", 9, 60},
}

// stride is the distance between hit calls; make nightly hits every step.
func (s strike) stride() int {
	if tier.IsNightly() {
		return s.step
	}
	return 8 * s.step
}

// bench is the environment of the runs.
type bench struct {
	strace, program string
	old, new        state
}

// build compiles a command into a folder of the test.
func build(t *testing.T, pkg string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), filepath.Base(pkg))
	out, err := exec.Command("go", "build", "-o", program, pkg).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// tracer finds strace, or skips the test.
func tracer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the command some hundred times under strace: left to make test")
	}
	strace := testtool.Require(t, "strace", "strace")
	if out, err := exec.Command(strace, "-f", "-o", os.DevNull, "-e", "inject=mkdirat:error=EIO",
		"true").CombinedOutput(); err != nil {
		t.Skipf("needs the right to trace processes (ptrace), which this machine rejects: %s", out)
	}
	return strace
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{strace: tracer(t), program: filepath.Join(t.TempDir(), "dlpackgen")}
	testkit.BuildProgram(t, b.program)
	b.old.prepare(t, b, "1.2", "cpp/old")
	b.new.prepare(t, b, "1.3", "cpp/new")
	return b
}

// state is a config and its generated tree.
type state struct {
	config string
	dir    string
	files  map[string]string
}

// prepare generates the whole tree of a config. Between the states, files of target c change, and
// files of target cpp appear and disappear.
func (s *state) prepare(t *testing.T, b *bench, release, path string) {
	t.Helper()
	s.config, s.dir = filepath.Join(t.TempDir(), "dlpackgen.yaml"), t.TempDir()
	text := fmt.Sprintf("version: 1\ndlpack: %q\ntargets:\n  c: {path: c}\n  cpp: {path: %s}\n", release, path)
	require.NoError(t, os.WriteFile(s.config, []byte(text), 0o644))
	b.generate(t, s.dir, s)
	s.files = files(t, s.dir)
}

func (s *state) has(name, data string) bool {
	own, ok := s.files[name]
	return ok && own == data
}

func (s *state) args(more ...string) []string {
	return append([]string{"generate", "--config", s.config, "--out", "."}, more...)
}

// generate runs the command without a fault.
func (b *bench) generate(t *testing.T, dir string, s *state, more ...string) {
	t.Helper()
	b.run(t, dir, s.args(more...))
}

// run runs the command in a folder; it must succeed.
func (b *bench) run(t *testing.T, dir string, args []string) {
	t.Helper()
	cmd := exec.Command(b.program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// files reads every file below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = string(data)
		return err
	}))
	return found
}

// hit runs the command with a fault at the Nth of some calls, and reports whether the fault
// occurred.
func (b *bench) hit(t *testing.T, dir string, s strike, n int) bool {
	t.Helper()
	_, hit := b.inject(t, dir, s, n, b.new.args())
	return hit
}

// inject is hit for any arguments; it also returns the command's output.
func (b *bench) inject(t *testing.T, dir string, s strike, n int, args []string) (printed string, hit bool) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	inject := fmt.Sprintf("inject=%s:%s:when=%d", s.calls, s.fault, n)
	options := []string{"-f", "-qq", "-o", log, "-e", "trace=" + s.calls, "-e", inject}
	if strings.HasPrefix(s.fault, "error=") {
		options = append(options, "--seccomp-bpf") // three times as fast, and excludes signals
	}
	cmd := exec.Command(b.strace, append(append(options, b.program), args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.True(t, err == nil || errors.As(err, &exit), "%v", err)
	requireNoCrash(t, string(out))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	hit = strings.Contains(string(text), "(INJECTED)") || strings.Contains(string(text), "killed by SIGKILL")
	return string(out), hit
}

// endOfRuntime matches the error with which Go's runtime ends a program: it wakes its poller with a
// write, and requires success. The writing thread varies, and the line before this one can be lost
// in part, because the first write of another thread fails too.
var endOfRuntime = regexp.MustCompile(`(?m)^fatal error: runtime: netpollBreak write failed$`)

// requireNoCrash accepts the runtime's end after a failed write, which is another kind of kill.
func requireNoCrash(t require.TestingT, printed string) {
	if !endOfRuntime.MatchString(printed) {
		require.NotContains(t, printed, "goroutine ", "the command has crashed")
	}
}

// own matches the names that only a killed run leaves.
var own = regexp.MustCompile(`(^|/)\.dlpackgen(-[0-9a-f]{16}\.tmp|\.journal)$`)

// requireWhole accepts each file with its old or its new contents.
func (b *bench) requireWhole(t *testing.T, dir, at string) {
	t.Helper()
	after := files(t, dir)
	for name, data := range after {
		whole := b.old.has(name, data) || b.new.has(name, data) || own.MatchString(name)
		require.True(t, whole, "%s: %s is neither old nor new", at, name)
	}
	for name := range b.old.files {
		_, goes := b.new.files[name]
		assert.True(t, !goes || after[name] != "", "%s: %s is gone", at, name)
	}
}

// strike hits every call with a fault.
func (b *bench) strike(t *testing.T, s strike) {
	t.Helper()
	for n := 1; ; n += s.stride() {
		dir, at := t.TempDir(), fmt.Sprintf("call %d", n)
		require.NoError(t, os.CopyFS(dir, os.DirFS(b.old.dir)))
		hit := b.hit(t, dir, s, n)
		b.requireWhole(t, dir, at)
		b.generate(t, dir, &b.new, "--only", []string{"c", "cpp"}[n%2])
		b.generate(t, dir, &b.new)
		require.Equal(t, b.new.files, files(t, dir), at)
		if !hit {
			assert.Greater(t, n, s.least, "strace has missed the run")
			return
		}
	}
}

// The pattern for the runtime's end matches this Go version's error, and no other output.
func TestEndsOfTheRuntimeAreKnown(t *testing.T) {
	strace, poller := tracer(t), build(t, "./testdata/poller")
	var out []byte
	for range 10 { // a runtime that ends may also hang, and is then killed with its tracer
		out, _ = exec.Command("timeout", "-s", "KILL", "10", strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=write",
			"-e", "inject=write:error=ENOSPC:when=1", poller).CombinedOutput()
		if strings.Contains(string(out), "goroutine ") {
			break
		}
	}
	require.Contains(t, string(out), "goroutine ")
	requireNoCrash(t, string(out))
	seen := &crash{}
	requireNoCrash(seen, "panic: runtime error\n\ngoroutine 1 [running]:\n")
	assert.True(t, seen.failed)
}

// crash is a test that only records its failure.
type crash struct{ failed bool }

func (c *crash) Errorf(string, ...any) {}
func (c *crash) FailNow()              { c.failed = true }

// TestFaults kills the real command, and makes its calls fail. Every file must be whole, and the
// next runs, of one target and then of all, must heal the rest.
func TestFaults(t *testing.T) {
	b := newBench(t)
	for _, s := range strikes {
		t.Run(s.calls+" "+s.fault, func(t *testing.T) {
			t.Parallel()
			b.strike(t, s)
		})
	}
}
