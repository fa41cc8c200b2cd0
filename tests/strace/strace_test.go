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

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// strike is what happens to the Nth call of some system calls, N counting up
// until a run has no Nth call any more.
type strike struct {
	calls, fault string
	step         int
	least        int // of calls that every run makes
}

// A run makes each call from one thread, which is what strace counts by. Files
// are opened many times before the first one is written: those come in steps.
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

// stride counts calls from one that is hit to the next: make nightly hits all that step says.
func (s strike) stride() int {
	if tier.IsNightly() {
		return s.step
	}
	return 8 * s.step
}

// bench is where the runs take place.
type bench struct {
	strace, program string
	old, new        state
}

// build compiles a command into a folder of the test's own.
func build(t *testing.T, pkg string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), filepath.Base(pkg))
	out, err := exec.Command("go", "build", "-o", program, pkg).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// tracer finds strace, or skips.
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
	b := &bench{strace: tracer(t), program: build(t, "../../cmd/dlpackgen")}
	b.old.prepare(t, b, "1.2", "cpp/old")
	b.new.prepare(t, b, "1.3", "cpp/new")
	return b
}

// state is a config and the tree that it makes.
type state struct {
	config string
	dir    string
	files  map[string]string
}

// prepare makes the whole tree of a config. From one state to the other, files
// of target c change, and those of target cpp are made and deleted.
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

// run runs the command in a folder, and it succeeds.
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

// hit runs the command with a fault at the Nth of some calls, and tells whether
// it came to that.
func (b *bench) hit(t *testing.T, dir string, s strike, n int) bool {
	t.Helper()
	_, hit := b.inject(t, dir, s, n, b.new.args())
	return hit
}

// inject is hit for any arguments; it also returns what the command said.
func (b *bench) inject(t *testing.T, dir string, s strike, n int, args []string) (said string, hit bool) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	inject := fmt.Sprintf("inject=%s:%s:when=%d", s.calls, s.fault, n)
	options := []string{"-f", "-qq", "-o", log, "-e", "trace=" + s.calls, "-e", inject}
	if strings.HasPrefix(s.fault, "error=") {
		options = append(options, "--seccomp-bpf") // thrice as fast, and lets no signal through
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

// endOfRuntime matches what Go's runtime says as it ends a program: it wakes its poller by
// a write, and does not go on without it. Which thread writes to that when is chance.
var endOfRuntime = regexp.MustCompile(`(?m)^runtime: netpollBreak write failed with [0-9]+\nfatal error: ` +
	`runtime: netpollBreak write failed$`)

// requireNoCrash accepts the end by a write of the runtime, which is one more way to be
// killed.
func requireNoCrash(t require.TestingT, said string) {
	if !endOfRuntime.MatchString(said) {
		require.NotContains(t, said, "goroutine ", "the command has crashed")
	}
}

// own matches the names that only a killed run leaves.
var own = regexp.MustCompile(`(^|/)\.dlpackgen(-[0-9a-f]{16}\.tmp|\.journal)$`)

// requireWhole accepts each file in its old or its new content.
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

// strike finds every call that a fault can hit.
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

// What is taken for the runtime's own end is what this Go says then, and nothing else is.
func TestEndsOfTheRuntimeAreKnown(t *testing.T) {
	strace, poller := tracer(t), build(t, "./testdata/poller")
	out, err := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=write", "-e",
		"inject=write:error=ENOSPC:when=1", poller).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "goroutine ")
	requireNoCrash(t, string(out))
	seen := &crash{}
	requireNoCrash(seen, "panic: runtime error\n\ngoroutine 1 [running]:\n")
	assert.True(t, seen.failed)
}

// crash is a test that only remembers that it failed.
type crash struct{ failed bool }

func (c *crash) Errorf(string, ...any) {}
func (c *crash) FailNow()              { c.failed = true }

// TestFaults kills and hinders the real command. Every file must be whole, and
// the next runs, of one target and then of all, must heal the rest.
func TestFaults(t *testing.T) {
	b := newBench(t)
	for _, s := range strikes {
		t.Run(s.calls+" "+s.fault, func(t *testing.T) {
			t.Parallel()
			b.strike(t, s)
		})
	}
}
