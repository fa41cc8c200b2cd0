// Package testkit contains helpers for the tests of several packages: programs that are built once,
// their steps and output lines, sources with one change, and copies of examples. Only tests use it.
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
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// Strict are the flags of gcc and clang for code that users compile.
var Strict = []string{"-std=c11", "-g", Level(), "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic",
	"-Werror"}

// Level is how far a compiler optimizes what tests run: not at all in make test, where gcc would
// take longer than the tests. Tests of warnings have a level of their own, since gcc finds some of
// what it warns of while it optimizes.
func Level() string {
	if tier.IsNightly() {
		return "-O1"
	}
	return "-O0"
}

// Sanitized are the flags of AddressSanitizer, which also finds leaks.
var Sanitized = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// shared is the cache of the folders that the tests of one binary build once, by key.
var shared struct {
	sync.Mutex
	dir  string
	once map[string]*sync.Once
}

// Main runs tests with a folder for the results of Built, and returns the exit code.
func Main(m *testing.M, name string) int {
	dir, err := os.MkdirTemp("", name+"-")
	if err != nil {
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared.dir, shared.once = dir, map[string]*sync.Once{}
	return m.Run()
}

// Built returns the folder of a key, which fill fills on the first call.
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

// Lines runs a command that must succeed without output on stderr, and returns the lines that it
// printed.
func Lines(t testing.TB, cmd *exec.Cmd) []string {
	t.Helper()
	return LinesOf(t, cmd, 0)
}

// LinesOf is Lines for a command with a given exit status, such as 77 if something could not be
// tested.
func LinesOf(t testing.TB, cmd *exec.Cmd, status int) []string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.Equal(t, status, cmd.ProcessState.ExitCode(), "%v: %v\n%s%s", cmd.Args, err, out.String(), errs.String())
	require.Empty(t, errs.String(), "%v", cmd.Args)
	return split(out.String())
}

// Limited returns a command for a program that may not end. It is limited to 10 seconds of CPU
// time, which does not depend on other processes, and to one minute of waiting. For correct
// programs, which load must not end, use exec.Command.
func Limited(program string, words ...string) *exec.Cmd {
	return exec.Command("timeout", append([]string{"60", "prlimit", "--cpu=10", program}, words...)...)
}

// Tried returns the lines of a program that may be broken, or nil if it fails, prints to stderr, or
// never ends.
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

// Fits reports whether lines match the expected regular expressions.
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

// Mutated returns a copy of a folder in which one text of a file, which must occur exactly once, is
// replaced.
func Mutated(t testing.TB, source, file, old, fresh string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(source)))
	mutant.Mutant{File: file, Old: old, New: fresh}.Alone(t, dir)
	return dir
}
