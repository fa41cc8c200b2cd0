package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Compiler is one way to build a program in plain C: its name, the Debian package that has it, the
// language and the standard.
type Compiler struct{ Name, Debian, Language, Standard string }

// Compilers are the compilers that must accept plain C.
var Compilers = []Compiler{
	{"gcc", "gcc", "c", "c11"}, {"g++", "g++", "c++", "c++17"},
	{"clang-16", "clang-16", "c", "c11"}, {"clang++-16", "clang-16", "c++", "c++17"},
}

// RunCompiler returns that of testtool.RequireRunCompiler.
func RunCompiler() Compiler {
	if testtool.RunsGCC() {
		return Compilers[0]
	}
	return Compilers[2]
}

// Build builds the program, or skips the test.
func (c Compiler) Build(t testing.TB, program string, args ...string) {
	t.Helper()
	all := append([]string{"-x", c.Language, "-std=" + c.Standard, "-o", program}, args...)
	Run(t, testtool.Require(t, c.Name, c.Debian), all...)
}

// Says runs a program with mutants. The number selects the active mutant; 0 selects none.
func Says(program string, number int) (string, error) {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), mutant.Env(number))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Sentences returns the expected output of such a program, from testdata/sentences.txt.
func Sentences(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sentences.txt")
	require.NoError(t, err)
	return string(text)
}

// RunIn runs a program in a folder, which must succeed, and returns its output.
func RunIn(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// RequireRuntime returns the path of a library of g++, such as libasan.so, or skips the test.
func RequireRuntime(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command(testtool.Require(t, "g++", "g++"), "-print-file-name="+name).Output()
	if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
		return path
	}
	t.Skipf("needs %s: apt-get install g++", name)
	return ""
}

// RequireSanitizers returns the flags for a shared library with AddressSanitizer and
// UndefinedBehaviorSanitizer that testtool.RequireRunCompiler builds, and the path of the runtime,
// which the program that loads the library must preload.
func RequireSanitizers(t testing.TB) (flags []string, preload string) {
	t.Helper()
	if testtool.RunsGCC() {
		return Sanitized, RequireRuntime(t, "libasan.so")
	}
	const runtime = "libclang_rt.asan-x86_64.so"
	out, err := exec.Command(testtool.Require(t, "clang-16", "clang-16"), "-print-file-name="+runtime).Output()
	if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
		return append([]string{"-shared-libsan"}, Sanitized...), path
	}
	t.Skipf("needs %s: apt-get install libclang-rt-16-dev", runtime)
	return nil, ""
}

// Leaks returns the reports of LeakSanitizer about code of dlpackgen, without leaks of Python and
// PyTorch at exit.
func Leaks(log string) (all []string) {
	for _, report := range strings.Split(log, "\n\n") {
		if strings.Contains(report, " leak of ") && strings.Contains(report, "dlpackgen::") {
			all = append(all, report)
		}
	}
	return all
}
