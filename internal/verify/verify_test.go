package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang, program string
		want          layout.Lang
	}{
		{"", "gcc", layout.C},
		{"", "/opt/bin/g++", layout.CXX},
		{"", "clang++-16", layout.CXX},
		{"", "x86_64-w64-mingw32-g++-12.2.exe", layout.CXX},
		{"", "g++x", layout.C},
		{"c", "g++", layout.C},
		{"c++", "gcc", layout.CXX},
	} {
		got, err := language(c.lang, c.program)
		require.NoError(t, err, c.program)
		assert.Equal(t, c.want, got, c.program)
	}
	_, err := language("fortran", "gcc")
	assert.EqualError(t, err, `unknown language "fortran"`)
}

func TestFlagsThatWriteFilesAreRejected(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkFlags([]string{"-O2", "-march=native", "-I", "include", "-DX=1"}))
	for _, flag := range []string{"-o", "-ofile", "-save-temps=cwd", "--save-temps", "-MD", "-MFx",
		"-fdump-tree-all", "-P"} {
		assert.ErrorContains(t, checkFlags([]string{"-O2", flag}), flag)
	}
}

// program adds an executable shell script to the PATH of the test.
func program(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return path
}

func TestFindCompiler(t *testing.T) {
	t.Parallel()
	spaced := program(t, "my cc", "exit 0")
	got, err := findCompiler(spaced, "")
	require.NoError(t, err)
	assert.Equal(t, []string{spaced}, got, "a path with a space is one program")

	got, err = findCompiler("sh -c  x", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"sh", "-c", "x"}, got)

	for _, cc := range []string{"no-such-compiler", "no-such-compiler -m32", program(t, "cl.exe", ""),
		program(t, "clang-cl", "")} {
		_, err := findCompiler(cc, "")
		var e *Error
		require.ErrorAs(t, err, &e, cc)
		assert.Equal(t, "verify-no-compiler", e.Findings[0].Code)
		assert.NotEmpty(t, e.Findings[0].Hint)
	}
	_, err = findCompiler("no-such-compiler", "")
	assert.EqualError(t, err, "cannot run the compiler no-such-compiler: executable file not found in $PATH")
}

func TestCompilerMessagesBecomeFindings(t *testing.T) {
	t.Parallel()
	c := &compiler{command: []string{"gcc"}, header: "/abs/a.h", shown: "a.h"}
	e := c.failed("In file included from x:\n/abs/a.h:3:7: error: unknown type name 'T'\nb.h:9: fatal error: " +
		"no.h: No such file\nnote: x\n")
	require.Len(t, e.Findings, 3)
	assert.Equal(t, "a.h does not compile as C with gcc", e.Error())
	assert.Equal(t, diag.Diagnostic{Code: "verify-compile", Pos: diag.Pos{File: "a.h", Line: 3, Col: 7},
		Text: "unknown type name 'T'"}, e.Findings[1])
	assert.Equal(t, diag.Diagnostic{Code: "verify-compile", Pos: diag.Pos{File: "b.h", Line: 9, Col: 1},
		Text: "no.h: No such file"}, e.Findings[2])

	assert.Equal(t, "a.h does not compile as C with gcc: cc1: out of memory",
		c.failed("cc1: out\n of memory\n").Error())
	assert.Equal(t, "a.h does not compile as C with gcc", c.failed("").Error())
}

func TestModelsWithoutAName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "lp64", modelName(layout.LP64))
	assert.Equal(t, "llp64", modelName(layout.Model{Pointer: 8, Int64Align: 8, Long: 4}), "MinGW")
	assert.Equal(t, "pointer 2, long 4, 64-bit integers aligned to 1, short enums",
		modelName(layout.Model{Pointer: 2, Int64Align: 1, Long: 4, ShortEnums: true}))
}

func TestPositionsPointAtTheWord(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.h")
	require.NoError(t, os.WriteFile(file, []byte("\r\n  data a;\r\n"), 0o600))
	p := &positions{compiler: &compiler{header: file, shown: "shown.h"}, lines: map[string][]string{}}
	for _, c := range []struct {
		line int
		word string
		want diag.Pos
		text string
	}{
		{2, "a", diag.Pos{File: "shown.h", Line: 2, Col: 8}, "  data a;"},
		{2, "b", diag.Pos{File: "shown.h", Line: 2, Col: 3}, "  data a;"},
		{9, "a", diag.Pos{File: "shown.h", Line: 9, Col: 1}, ""},
		{0, "a", diag.Pos{File: "shown.h"}, ""},
	} {
		pos, text := p.at(diag.Pos{File: file, Line: c.line}, c.word)
		assert.Equal(t, c.want, pos)
		assert.Equal(t, c.text, text)
	}
}
