package verify

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

// twins is a spec whose two releases have the same declarations.
func twins(t *testing.T) *spec.Spec {
	t.Helper()
	s, diags := spec.Load("twins.yaml", []byte(`spec: 1
releases:
  - {version: "0.1", date: 2020-01-01}
  - {version: "0.2", date: 2020-01-02}
declarations:
  - struct: Pair
    fields:
      - {name: a, type: int}
`))
	require.NotNil(t, s, "%v", diags.Sorted())
	return s
}

// A matching header matches under any flags of a project.
func TestFlagsOfAProject(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	header := ours(t, "1.3")
	for _, flags := range [][]string{
		{"-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"},
		{"-std=gnu2x", "-O3", "-g3", "-ggdb", "-flto"},
		{"-g0", "-s", "-fvisibility=hidden", "-DNDEBUG"},
		{"-gdwarf-5", "-gz", "-fdebug-types-section"},
		{"-std=c89"},
		{"-gsplit-dwarf"},
	} {
		got := run(t, verify.Request{Header: header, CC: "env gcc", Flags: flags})
		assert.Empty(t, got.Diags, "%v", flags)
		assert.Equal(t, "1.3", got.Release, "%v", flags)
	}
}

func TestFlagsThatChangeTheABI(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "g++", "g++")
	header := ours(t, "1.3")

	packed := run(t, verify.Request{Header: header, CC: "gcc", Flags: []string{"-fpack-struct"}})
	assert.Equal(t, []string{"verify-align", "verify-pack"}, codes(packed))
	assert.Empty(t, packed.Fits)

	short := run(t, verify.Request{Header: header, CC: "gcc", Flags: []string{"-fshort-enums"}})
	assert.Equal(t, []string{"verify-short-enums"}, codes(short), "a note: the header is as it should be there")
	assert.Equal(t, []string{"1.3"}, short.Fits)

	cxx := run(t, verify.Request{Header: header, CC: "g++", Flags: []string{"-fshort-enums"}})
	assert.Empty(t, cxx.Diags, "C++ fixes the width of the enum that is a field")
}

func TestLinkageMacrosFollowTheTarget(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "x86_64-w64-mingw32-gcc", "mingw-w64")
	header := ours(t, "1.3")
	for _, flags := range [][]string{nil, {"-DDLPACK_EXPORTS"}} {
		got := run(t, verify.Request{Header: header, CC: "x86_64-w64-mingw32-gcc", Flags: flags})
		assert.Empty(t, got.Diags, "%v", flags)
	}
	text := mutate(t, read(t, header), mutant{pattern: "dllimport", with: "dllexport"})
	got := run(t, verify.Request{Header: put(t, text), CC: "x86_64-w64-mingw32-gcc"})
	assert.Equal(t, []string{"verify-macro"}, codes(got))
}

// A header that only includes the real one, through a user's path, matches too; its additions are
// reported in its own file.
func TestAHeaderThatIncludesTheRealOne(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.MkdirAll("inc/dlpack", 0o700))
	require.NoError(t, os.WriteFile("inc/dlpack/dlpack.h", []byte(read(t, ours(t, "1.3"))), 0o600))
	require.NoError(t, os.WriteFile("my.h", []byte("#include <string.h>\n#include <dlpack/dlpack.h>\n"), 0o600))
	got := run(t, verify.Request{Header: "my.h", CC: "gcc", Flags: []string{"-I", "inc"}})
	assert.Empty(t, got.Diags)
	assert.Equal(t, "1.3", got.Release)

	require.NoError(t, os.WriteFile("my.h", []byte("#include <dlpack/dlpack.h>\n#define MINE 1\n"), 0o600))
	got = run(t, verify.Request{Header: "my.h", CC: "gcc", Flags: []string{"-Iinc"}})
	require.Len(t, got.Diags, 1)
	assert.Equal(t, "my.h:2:9", got.Diags[0].Pos.String())
	assert.Equal(t, "MINE is a macro, expected no such name", got.Diags[0].Text)
}

// A run leaves no file behind: none in the header's folder, none in the current folder, and none in
// the folder for temporary files.
func TestNothingIsWritten(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	temp, project := t.TempDir(), filepath.Join(t.TempDir(), `a "b" c`)
	t.Setenv("TMPDIR", temp)
	require.NoError(t, os.Mkdir(project, 0o700))
	t.Chdir(project)
	require.NoError(t, os.WriteFile("dlpack.h", []byte(read(t, ours(t, "1.3"))), 0o400))
	require.NoError(t, os.WriteFile("bad.h", []byte("int32 a;\n"), 0o400))

	got := run(t, verify.Request{Header: "dlpack.h", CC: "gcc"})
	assert.Empty(t, got.Diags, "a path with spaces and quotes is a path")
	_, err := verify.Run(context.Background(), dlpack, verify.Request{Header: "bad.h", CC: "gcc"})
	require.Error(t, err)

	assert.Equal(t, []string{"bad.h", "dlpack.h"}, names(t, "."))
	assert.Empty(t, names(t, temp))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
