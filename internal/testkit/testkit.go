// Package testkit is what the tests of several packages share: programs that are built once, the
// steps that these are given and the lines that they print, sources with one place changed, and
// copies of examples. It is for tests only.
package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// Strict are gcc's and clang's flags for what a user compiles.
var Strict = []string{"-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic",
	"-Werror"}

// Sanitized are the flags of AddressSanitizer, which finds leaks as well.
var Sanitized = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// shared is what the tests of one binary build once: the key names it.
var shared struct {
	sync.Mutex
	dir  string
	once map[string]*sync.Once
}

// Main runs tests with a folder for what Built makes, and gives the code to exit with.
func Main(m *testing.M, name string) int {
	dir, err := os.MkdirTemp("", name+"-")
	if err != nil {
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared.dir, shared.once = dir, map[string]*sync.Once{}
	return m.Run()
}

// Built returns the folder of a key, which fill filled the first time.
func Built(t testing.TB, key string, fill func(dir string)) string {
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

// Run runs a program that must succeed.
func Run(t testing.TB, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
}

// Lines runs a command that must succeed without a word of complaint, and gives the
// lines that it printed.
func Lines(t testing.TB, cmd *exec.Cmd) []string {
	t.Helper()
	return LinesOf(t, cmd, 0)
}

// LinesOf is Lines for a command that exits with a status, such as 77 where something
// could not be tested.
func LinesOf(t testing.TB, cmd *exec.Cmd, status int) []string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.Equal(t, status, cmd.ProcessState.ExitCode(), "%v: %v\n%s%s", cmd.Args, err, out.String(), errs.String())
	require.Empty(t, errs.String(), "%v", cmd.Args)
	return split(out.String())
}

// Limited is a program that may be broken: 10 seconds of CPU time end it, which other processes on
// the machine do not use up, and waiting for a minute. Where it is sound, load must not end it: use
// exec.Command.
func Limited(program string, words ...string) *exec.Cmd {
	return exec.Command("timeout", append([]string{"60", "prlimit", "--cpu=10", program}, words...)...)
}

// Tried returns the lines of a program that may be broken, or nil if it fails, complains,
// or waits for ever.
func Tried(env []string, program string, words ...string) []string {
	cmd := Limited(program, words...)
	var errs bytes.Buffer
	cmd.Env, cmd.Stderr = env, &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		return nil
	}
	return split(string(out))
}

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// Fits reports whether lines are those that are wanted, as regular expressions.
func Fits(want, lines []string) bool {
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

// Mutated returns a copy of a folder in which one place of a file, which must stand
// there once, is another.
func Mutated(t testing.TB, source, file, old, fresh string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(source)))
	mutant.Mutant{File: file, Old: old, New: fresh}.Alone(t, dir)
	return dir
}
