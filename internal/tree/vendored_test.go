package tree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The lock alone says what must stand there, whatever stands in its place.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"a.h": ours("a"), "b.h": ours("b"), "d.h": ours("d"), "e.h": ours("e")}
	req := request(dir, target("c", "c", files))
	generated(t, req)
	bare := Request{Out: dir, Tool: req.Tool}
	report, err := Verify(bare)
	require.NoError(t, err)
	assert.Len(t, report.Of(Unchanged), 4)
	assert.Equal(t, req.Tool, report.Writer)
	assert.False(t, report.Drift())

	setContent(t, dir, "c/a.h", ours("other"))
	remove(t, dir, "c/b.h")
	remove(t, dir, "c/d.h")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "c", "d.h"), 0o755))
	setContent(t, dir, ".dlpackgen.journal", string(formatJournal(req.Tool, nil)))
	before := disked(t, dir)
	report, err = Verify(bare)
	require.NoError(t, err)
	for state, want := range map[State][]string{Modified: {"c/a.h", "c/d.h"}, Missing: {"c/b.h"}, Unchanged: {"c/e.h"},
		Interrupted: {".dlpackgen.journal"}} {
		var got []string
		for _, it := range report.Of(state) {
			got = append(got, it.Path)
		}
		assert.Equal(t, want, got, state)
	}
	assert.Equal(t, before, disked(t, dir), "nothing is written")
}

func TestVerifyWithoutALock(t *testing.T) {
	_, err := Verify(Request{Out: t.TempDir(), Tool: request(".").Tool})
	var e *Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, KindRequest, e.Kind)
}
