//go:build !windows

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() {
	cpuTime = func() time.Duration {
		var used syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
}

// unhandled is the exit code of a process that a signal ended before its handler existed.
const unhandled = -1

// running is a process of the command.
type running struct {
	cmd  *exec.Cmd
	errs bytes.Buffer
	over chan error
}

func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command("dlpackgen", args...), over: make(chan error, 1)}
	r.cmd.Dir, r.cmd.Stderr = dir, &r.errs
	require.NoError(t, r.cmd.Start())
	go func() { r.over <- r.cmd.Wait() }()
	return r
}

// end returns the exit code and the findings of a process.
func (r *running) end(t *testing.T) (int, string) {
	t.Helper()
	var failed *exec.ExitError
	if err := <-r.over; err != nil && !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	return r.cmd.ProcessState.ExitCode(), r.errs.String()
}

// signaled runs the command in a folder, as a process that gets a signal after some time.
func signaled(t *testing.T, dir string, s syscall.Signal, after time.Duration, args ...string) (int, string) {
	t.Helper()
	r := start(t, dir, args...)
	timer := time.AfterFunc(after, func() { _ = r.cmd.Process.Signal(s) }) // it may have ended
	defer timer.Stop()
	return r.end(t)
}

// opened waits until the process has opened a folder, or has ended.
func (r *running) opened(t *testing.T, folder string) {
	t.Helper()
	files := fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid)
	for {
		entries, err := os.ReadDir(files)
		if err != nil {
			return
		}
		for _, e := range entries {
			if name, err := os.Readlink(filepath.Join(files, e.Name())); err == nil && name == folder {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// A waiting run ends at once with one line and the conventional exit code.
func TestASignalWhileARunWaits(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc, which shows the open folders of a process")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	input(t, dir, "dlpackgen.yaml", []byte("version: 1\nout: out\ntargets: {c: {}}\n"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o700))
	held, err := os.Open(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, args := range [][]string{{"generate"}, {"generate", "./..."}, {"clean"}} {
			r := start(t, dir, args...)
			r.opened(t, held.Name())
			require.NoError(t, r.cmd.Process.Signal(s))
			code, stderr := r.end(t)
			assert.Equal(t, want, code, "%v %v: %s", s, args, stderr)
			assert.Equal(t, "dlpackgen: interrupted: nothing was changed\n", stderr)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "out"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// outcomes are the possible reports of an interrupted run on many configs.
var outcomes = regexp.MustCompile(
	`(?m)^dlpackgen: interrupted: (nothing was changed|\d+ of 4 configs were completed, ` +
		`the others are unchanged)$`)

// After a signal at any time, the files of each config are all there or all absent.
func TestASignalLeavesEachConfigWholeOrUntouched(t *testing.T) {
	if testing.Short() {
		t.Skip("ends many runs, and -short was given")
	}
	fresh := func() (dir string) {
		dir = t.TempDir()
		for i := range 4 {
			sub := filepath.Join(dir, fmt.Sprint(i))
			require.NoError(t, os.Mkdir(sub, 0o700))
			input(t, sub, "dlpackgen.yaml", []byte(
				"version: 1\nout: out\ntargets: {c: {}, go: {import: x.org/y}, cpp: {}, "+
					"python: {}}\n"))
		}
		return dir
	}
	start := time.Now()
	code, stderr := signaled(t, fresh(), syscall.SIGINT, time.Hour, "generate", "./...", "--quiet")
	require.Equal(t, exitFine, code, stderr)
	whole := time.Since(start)
	const tries = 12
	for i := range tries {
		dir, s := fresh(), []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]
		code, stderr := signaled(t, dir, s, whole*time.Duration(i)/tries, "generate", "./...", "--quiet")
		if code != exitFine && code != unhandled {
			assert.Equal(t, 128+int(s), code, stderr)
			assert.Regexp(t, outcomes, stderr)
		}
		requireWholeOrUntouched(t, dir)
	}
}

func requireWholeOrUntouched(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		assert.False(t, strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".journal"), name)
		return err
	}))
	outs, err := filepath.Glob(filepath.Join(dir, "*", "out"))
	require.NoError(t, err)
	for _, out := range outs {
		code, _, stderr := run(t, "check", "--config", filepath.Join(filepath.Dir(out), "dlpackgen.yaml"))
		assert.Equal(t, exitFine, code, stderr)
	}
}

// A run whose parent ignores the signal, like nohup, ignores it too.
func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "trap '' INT; dlpackgen generate --no-config --only c --out out & "+
		"for i in 1 2 3 4 5 6 7 8 9 10; do kill -INT $!; sleep 0.01; done; wait $!")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.FileExists(t, filepath.Join(dir, "out", "dlpackgen.lock"))
}

func TestResultsOfInterruptedRuns(t *testing.T) {
	for want, i := range map[string]*interrupts{
		"nothing was changed":                                                {configs: 3},
		"the run was already complete":                                       {changed: 1},
		"1 of 3 configs were completed, ":                                    {changed: 1, configs: 3},
		"nothing was changed; the next run completes or undoes what is left": {left: true},
	} {
		assert.Contains(t, i.became(), want)
	}
}
