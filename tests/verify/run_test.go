package verify

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

// read returns the text of a header.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// Edits without an effect for clients are not reported.
func TestHarmlessEditsReportNothing(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	text := read(t, ours(t, "1.3"))
	comments := regexp.MustCompile(`(?s)/\*.*?\*/`)
	for name, edited := range map[string]string{
		"comments dropped":  comments.ReplaceAllString(text, ""),
		"other line ends":   strings.ReplaceAll(text, "\n", "\r\n"),
		"other indentation": strings.ReplaceAll(text, "\n  ", "\n\t\t"),
		"comments added":    strings.ReplaceAll(text, ";\n", "; /* int32_t more; */ // #define MORE 1\n"),
		"stars elsewhere":   regexp.MustCompile(`(\w)\* (\w)`).ReplaceAllString(text, "$1 *$2"),
		"pragma once":       "#pragma once\n" + text,
		"literals in hex":   strings.ReplaceAll(text, "kDLTrn = 18", "kDLTrn = 0x12"),
		"implicit values":   strings.ReplaceAll(text, "kDLCUDA = 2", "kDLCUDA"),
		"unused attribute":  strings.ReplaceAll(text, "} DLTensor;", "} __attribute__((aligned(8))) DLTensor;"),
		"more macro space":  strings.ReplaceAll(text, "(1UL << 1UL)", "  (1UL   <<   1UL)  "),
	} {
		require.NotEqual(t, text, edited, name)
		got := run(t, verify.Request{Header: put(t, edited), CC: "gcc"})
		assert.Empty(t, got.Diags, name)
		assert.Equal(t, "1.3", got.Release, name)
	}
}

func TestTheReleaseIsFound(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	for _, c := range []struct {
		name, from, old, new string
		release              string
		fits                 []string
		codes                []string
	}{
		{name: "0.1 and 0.2 share a version macro", from: "0.2", release: "0.2", fits: []string{"0.2"}},
		{name: "1.3 and main share one too", from: "main", release: "main", fits: []string{"main"}},
		{name: "between 1.1 and 1.2", from: "1.1", old: "kDLMAIA = 17", new: "kDLMAIA = 17, kDLTrn = 18",
			release: "1.1", codes: []string{"verify-enum-extra"}},
		{name: "a tie goes to the older", from: "1.3", old: "DLPACK_MINOR_VERSION 3", new: "DLPACK_MINOR_VERSION 9",
			release: "1.2", codes: []string{"verify-macro"}},
		{name: "parameter names do not keep a release from fitting", from: "0.8", old: "* self", new: "* tensor",
			release: "0.8", fits: []string{"0.8"}, codes: []string{"verify-param-name"}},
	} {
		text := read(t, ours(t, c.from))
		if c.old != "" {
			text = mutation.Once(t, text, c.old, c.new)
		}
		got := run(t, verify.Request{Header: put(t, text), CC: "gcc"})
		assert.Equal(t, c.release, got.Release, c.name)
		assert.Equal(t, c.fits, got.Fits, c.name)
		assert.Equal(t, c.codes, codes(got), c.name)
	}
}

// If one release matches, it is named; if several match, all are: here, a spec whose two releases
// have the same declarations.
func TestEveryReleaseThatFitsIsNamed(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	s := twins(t)
	got, err := verify.Run(context.Background(), s,
		verify.Request{Header: put(t,
			"#ifndef DLPACK_DLPACK_H_\n#define DLPACK_DLPACK_H_\ntypedef struct { int a; } Pair;\n#endif\n"),
			CC: "gcc"})
	require.NoError(t, err)
	assert.Equal(t, []string{"0.1", "0.2"}, got.Fits)
	assert.Equal(t, "0.1", got.Release)
	assert.Empty(t, got.Diags)
}

func TestTheReleaseIsPassed(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	header := ours(t, "1.3")
	got := run(t, verify.Request{Header: header, CC: "gcc", Release: "latest"})
	assert.Equal(t, []string{"1.3"}, got.Fits)

	got = run(t, verify.Request{Header: header, CC: "gcc", Release: "v1.2"})
	assert.Equal(t, "1.2", got.Release)
	assert.Empty(t, got.Fits)
	require.Len(t, got.Diags, 1)
	line := strings.Count(read(t, header)[:strings.Index(read(t, header), "#define DLPACK_MINOR_VERSION")], "\n") + 1
	assert.Equal(t, diag.Diagnostic{
		Code:   "verify-macro",
		Pos:    diag.Pos{File: header, Line: line, Col: 9},
		Text:   "DLPACK_MINOR_VERSION is 3 (value 3), expected 2 (value 2)",
		Source: "#define DLPACK_MINOR_VERSION 3",
	}, got.Diags[0])
}

// A header that cannot be compared is an error with a hint, not a finding.
func TestHeadersThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "g++", "g++")
	good, other := ours(t, "1.3"), filepath.Join(t.TempDir(), "other.h")
	require.NoError(t, os.WriteFile(other, []byte("#include <stdio.h>\n#ifdef DLPACK_DLL\n#endif\n"), 0o600))
	for _, c := range []struct {
		name, code, text string
		req              verify.Request
	}{
		{"no header", "verify-no-header", "no such file", verify.Request{Header: good + "x", CC: "gcc"}},
		{"a folder", "verify-no-header", "is a folder", verify.Request{Header: filepath.Dir(good), CC: "gcc"}},
		{"a device", "verify-no-header", "/dev/zero is not a regular file",
			verify.Request{Header: "/dev/zero", CC: "gcc"}},
		{"another header", "verify-foreign", "declares no type of DLPack", verify.Request{Header: other, CC: "gcc"}},
		{"another header in C++", "verify-foreign", "declares no type of DLPack",
			verify.Request{Header: other, CC: "g++", Release: "1.3"}},
		{"no compiler", "verify-no-compiler", "cannot run the compiler nocc", verify.Request{Header: good, CC: "nocc"}},
		{"no release", "unknown-release", `no DLPack release "9.9"`,
			verify.Request{Header: good, CC: "gcc", Release: "9.9"}},
		{"no language", "usage", "unknown language", verify.Request{Header: good, CC: "gcc", Lang: "d"}},
		{"a flag that writes", "usage", "-MD", verify.Request{Header: good, CC: "gcc", Flags: []string{"-MD"}}},
		{"a program that is no compiler", "verify-no-object", "true reported no error, and wrote no object file",
			verify.Request{Header: good, CC: "true"}},
		{"a flag that compiles nothing", "verify-no-object", "wrote no object file",
			verify.Request{Header: good, CC: "gcc", Flags: []string{"-fsyntax-only"}}},
		{"a compiler without debug information", "verify-no-debug", "COFF",
			verify.Request{Header: good,
				CC: script(t, `while [ "$1" != -o ] && [ $# -gt 0 ]; do shift; done; [ $# = 0 ] || echo junk > "$2"`)}},
		{"a compiler that compiles something else", "verify-no-debug", "lacks the probes",
			verify.Request{Header: good,
				CC: script(t,
					`while [ "$1" != -o ] && [ $# -gt 0 ]; do shift; done; [ $# = 0 ] || echo "int x;" | gcc -g `+
						`-gdwarf-4 -xc - -c -o "$2"`)}},
		{"a compiler that fails in silence", "verify-compile", "does not compile",
			verify.Request{Header: good, CC: script(t, "exit 3")}},
	} {
		_, err := verify.Run(context.Background(), dlpack, c.req)
		var e *verify.Error
		if assert.ErrorAs(t, err, &e, c.name) {
			assert.Equal(t, c.code, e.Findings[0].Code, c.name)
			assert.Contains(t, e.Findings[0].Text, c.text, c.name)
		}
	}
}

// A target with unknown relocations is rejected, not misread.
func TestATargetThatCannotBeRead(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "clang-16", "clang-16")
	for _, target := range []string{"msp430", "riscv32"} {
		_, err := verify.Run(context.Background(), dlpack,
			verify.Request{Header: ours(t, "1.3"), CC: "clang-16",
				Flags: []string{"--target=" + target, "-ffreestanding"}})
		var e *verify.Error
		require.ErrorAs(t, err, &e, target)
		assert.Equal(t, "verify-target", e.Findings[0].Code)
		assert.Contains(t, e.Findings[0].Text, "EM_"+map[string]string{"msp430": "MSP430", "riscv32": "RISCV"}[target])
		assert.Contains(t, e.Findings[0].Hint, "--target=")
	}
}

// script writes an executable into a folder of the test.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cc")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

// For a header that does not compile, the compiler's own message and position are reported.
func TestAHeaderThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	for text, want := range map[string]string{
		"#include <stdint.h>\nint32_t a;\nint64 b;\n":                    "unknown type name",
		"#include <no/such.h>\n":                                         "no/such.h: No such file",
		"#error nothing here\n":                                          "#error nothing here",
		"#define DLPACK_VERSION \"x\"\nint32 a;\n":                       "unknown type name",
		"typedef struct { int a; } DLDevice;\nstruct DLDevice broken;\n": "storage size",
		"typedef struct { int a; }":                                      "expected",
	} {
		header := put(t, text)
		_, err := verify.Run(context.Background(), dlpack, verify.Request{Header: header, CC: "gcc"})
		var e *verify.Error
		require.ErrorAs(t, err, &e, text)
		assert.Equal(t, header+" does not compile as C with gcc", e.Error())
		assert.NotEmpty(t, e.Findings[0].Hint)
		require.Greater(t, len(e.Findings), 1, text)
		assert.Contains(t, e.Findings[1].Text, want, text)
		assert.NotZero(t, e.Findings[1].Pos.Line, text)
	}
}

func TestACancelledRunReportsIt(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := verify.Run(ctx, dlpack, verify.Request{Header: ours(t, "1.3"), CC: "gcc"})
	assert.ErrorIs(t, err, context.Canceled)
}
