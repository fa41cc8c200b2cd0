// Package cpp tests the emitted C++ headers with real compilers: they compile everywhere, their
// asserts reject all deviations, and they work as documented, also under sanitizers.
package cpp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// strict are the flags of a careful project.
var strict = []string{"-Wall", "-Wextra", "-pedantic", "-Werror"}

// compiler is a compiler with one tested standard.
type compiler struct{ program, debian, standard string }

func (c compiler) String() string { return c.program + " " + c.standard }

var (
	gcc   = compiler{"g++", "g++", "c++17"}
	clang = compiler{"clang++-16", "clang-16", "c++17"}
)

// corners are the newest standard of each compiler; programs with sanitizers use the oldest.
func corners() []compiler { return []compiler{matrix()[2], matrix()[5]} }

// matrix is every compiler with every standard.
func matrix() (all []compiler) {
	for _, c := range []compiler{gcc, clang} {
		for _, standard := range []string{"c++17", "c++20", "c++2b"} {
			c.standard = standard
			all = append(all, c)
		}
	}
	return all
}

func release(t *testing.T, version string) *spec.Release {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return r
}

// headers emits targets c and cpp of a release into an include folder.
func headers(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, c.Target, release(t, version))
	write(t, dir, cpp.Target, release(t, version))
	return dir
}

func write(t *testing.T, dir string, target emit.Target, r *spec.Release) {
	t.Helper()
	files, err := target.Emit(&emit.Model{Release: r})
	require.NoError(t, err)
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o600))
	}
}

// gen is the committed folder for vendoring.
func gen(t *testing.T) []string {
	t.Helper()
	root := golden.Root(t)
	return []string{"-I", filepath.Join(root, "gen", "c"), "-I", filepath.Join(root, "gen", "cpp")}
}

// compile runs a compiler over a source text, without output.
func compile(t *testing.T, c compiler, source string, flags ...string) (output string, err error) {
	t.Helper()
	testtool.Require(t, c.program, c.debian)
	cmd := exec.Command(c.program,
		append([]string{"-x", "c++", "-std=" + c.standard, "-fsyntax-only", "-"}, flags...)...)
	cmd.Stdin = strings.NewReader(source)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func assertCompiles(t *testing.T, c compiler, source string, flags ...string) {
	t.Helper()
	out, err := compile(t, c, source, flags...)
	assert.NoError(t, err, "%s %v\n%s", c, flags, out)
}

// assertRejects expects the compilation to fail for the given reason.
func assertRejects(t *testing.T, reason string, c compiler, source string, flags ...string) {
	t.Helper()
	out, err := compile(t, c, source, flags...)
	assert.Error(t, err, "%s %v compiles", c, flags)
	assert.Contains(t, out, reason, "%s %v", c, flags)
}

// build compiles a program from files of testdata.
func build(t *testing.T, c compiler, sources []string, flags ...string) (program string) {
	t.Helper()
	testtool.Require(t, c.program, c.debian)
	program = filepath.Join(t.TempDir(), "program")
	flags = append(flags, requireEigen(t, sources...)...)
	args := append([]string{"-std=" + c.standard, "-o", program, "-pthread"}, flags...)
	for _, name := range sources {
		args = append(args, filepath.Join("testdata", name))
	}
	out, err := exec.Command(c.program, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", c.program, strings.Join(args, " "), out)
	return program
}

// requireEigen skips a test of a program that includes Eigen if Eigen is missing, and returns the
// flags for it.
func requireEigen(t *testing.T, sources ...string) (flags []string) {
	t.Helper()
	isEigen := func(name string) bool { return strings.HasPrefix(name, "eigen") }
	if !slices.ContainsFunc(sources, isEigen) {
		return nil
	}
	if _, err := os.Stat(eigenFolder + "/Eigen/Dense"); err != nil {
		t.Skip("needs Eigen: apt-get install libeigen3-dev")
	}
	return []string{"-isystem", eigenFolder}
}

// eigenFolder is Debian's folder of Eigen, which no compiler searches by default.
const eigenFolder = "/usr/include/eigen3"

// passes runs a program that counts its checks; at least the given number must pass.
func passes(t *testing.T, program string, atLeast string) {
	t.Helper()
	out, err := exec.Command(program).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^`+atLeast+` checks, 0 failed$`, string(out))
}

// The sanitizers: leaks and invalid accesses fail the program. AddressSanitizer detects more
// without optimization, and compiles in a third of the time.
var (
	addresses = []string{"-g1", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	threads   = []string{"-g", "-O1", "-fsanitize=thread"}
)

func flags(groups ...[]string) []string { return slices.Concat(groups...) }
