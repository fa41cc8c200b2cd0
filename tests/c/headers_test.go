// Package c tests the emitted C headers with real compilers: they compile everywhere, abi_check.h
// rejects all deviations, and the helpers of dlpackgen/tensor.h return the right results.
package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// strict are the flags of a careful project.
var strict = []string{"-Wall", "-Wextra", "-pedantic", "-Werror"}

// everything enables all of clang's warnings except those about any code of this kind: structs of
// this ABI have padding, and are C++11.
var everything = []string{"-Weverything", "-Werror", "-Wno-padded"}

// versions returns every release, oldest first; with -short, the oldest and the newest.
func versions() (out []string) {
	for _, info := range spec.Embedded().Releases() {
		out = append(out, info.Version)
	}
	if testing.Short() {
		return []string{out[0], out[len(out)-1]}
	}
	return out
}

// write emits the headers of a release into a folder of the test, for a compiler's -I. Nearly every
// test continues with GCC.
func write(t *testing.T, r *spec.Release) string {
	t.Helper()
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "g++", "g++")
	files, err := c.Target.Emit(&emit.Model{Release: r})
	require.NoError(t, err)
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o600))
	}
	return dir
}

// headers emits the headers of a version.
func headers(t *testing.T, version string) string { return write(t, emittest.Release(t, version)) }

// get and put read and write an emitted header.
func get(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// include returns a source that includes the headers.
func include(names ...string) (source string) {
	for _, name := range names {
		source += "#include <" + name + ">\n"
	}
	return source
}

// compile checks a source without an object file, and returns the compiler's output. The command is
// the compiler with its language and flags.
func compile(dir, source string, command ...string) (output string, err error) {
	args := append(command[1:len(command):len(command)], "-fsyntax-only", "-I", dir, "-")
	cmd := exec.Command(command[0], args...)
	cmd.Stdin = strings.NewReader(source)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func assertCompiles(t *testing.T, dir, source string, command ...string) {
	t.Helper()
	out, err := compile(dir, source, command...)
	assert.NoError(t, err, "%s\n%s", strings.Join(command, " "), out)
}

// assertRejects expects the compilation to fail for the given reason.
func assertRejects(t *testing.T, reason, dir, source string, command ...string) {
	t.Helper()
	out, err := compile(dir, source, command...)
	assert.Error(t, err, "%s compiles", strings.Join(command, " "))
	assert.Contains(t, out, reason, strings.Join(command, " "))
}

// command joins a compiler, a language standard and flags.
func command(compiler, language, standard string, flags ...string) []string {
	return append([]string{compiler, "-x", language, "-std=" + standard}, flags...)
}
