package outputs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// listed is the list of one target at a path, with these files.
func listed(t *testing.T, path string, files ...emit.File) *List {
	t.Helper()
	l, err := Of(tree.Request{Out: "out", Tool: tree.Tool{Version: "devel", Digest: strings.Repeat("0", 16)},
		Inputs: []string{"dlpackgen.yaml"}, Targets: []tree.Target{{
			Name: "t", Release: "1.3", SpecSHA256: strings.Repeat("0", 64), Path: path, Files: files}}})
	require.NoError(t, err)
	return l
}

func TestKinds(t *testing.T) {
	l := listed(t, "d", emit.File{Path: "a.c", Unit: true}, emit.File{Path: "b.c"}, emit.File{Path: "c.hpp"},
		emit.File{Path: "d.c", Once: true}, emit.File{Path: "e.pyi"}, emit.File{Path: "f.typed"})
	assert.Equal(t, "out/d/a.c\tt\tunit\nout/d/b.c\tt\tsource\nout/d/c.hpp\tt\theader\nout/d/d.c\tt\tstarter\n"+
		"out/d/e.pyi\tt\tpython\nout/d/f.typed\tt\tother\nout/dlpackgen.lock\t-\tlock\n", l.Text())
	assert.Equal(t, []string{"out/d"}, l.Includes)
	assert.Equal(t, "out/dlpackgen.lock", l.LockPath())
	l = listed(t, "d", emit.File{Path: "a.go"}, emit.File{Path: "a.h"})
	assert.Empty(t, l.Includes, "headers of a Go package are its own")
}

func TestNothingOwnedHasNoLock(t *testing.T) {
	l := listed(t, ".", emit.File{Path: "d.c", Once: true})
	assert.Equal(t, "out/d.c\tt\tstarter\n", l.Text())
	assert.Empty(t, l.LockPath())
}

func TestListsAreNeverNull(t *testing.T) {
	l, err := Of(tree.Request{Out: "out", Tool: tree.Tool{Version: "devel", Digest: strings.Repeat("0", 16)}})
	require.NoError(t, err)
	assert.NotContains(t, string(l.JSON()), "null")
	assert.True(t, json.Valid(l.JSON()))
}

func TestConflictsAreReported(t *testing.T) {
	_, err := Of(tree.Request{Out: "out", Tool: tree.Tool{Version: "devel", Digest: strings.Repeat("0", 16)},
		Targets: []tree.Target{{Name: "t", Path: "../x"}}})
	assert.ErrorContains(t, err, "target t")
}

func TestCMakeIsQuoted(t *testing.T) {
	text := listed(t, `a b;c$"d`, emit.File{Path: "x.h"}).CMake()
	assert.Contains(t, text, `"out/a b\;c\$\"d/x.h"`)
}

func TestNinjaIsEscaped(t *testing.T) {
	l := listed(t, "a b:c$d", emit.File{Path: "x.h"})
	text, err := l.Ninja("s p")
	require.NoError(t, err)
	assert.Equal(t,
		"ninja_dyndep_version = 1\nbuild s$ p | $\n    out/a$ b$:c$$d/x.h $\n    out/dlpackgen.lock: dyndep\n"+
			"  restat = 1\n", text)
	text, err = l.Ninja("out/dlpackgen.lock")
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(text, "lock"))
	_, err = l.Ninja("a\nb")
	assert.ErrorContains(t, err, "there is a line break in it")
}
