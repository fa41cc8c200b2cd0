//go:build !windows

package tree

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only regular files are opened, and links are not followed.
func TestScanOfStrangeFiles(t *testing.T) {
	dir, req := oneFile(t)
	setContent(t, filepath.Dir(dir), "outside/left.h", ours(""))
	defer remove(t, filepath.Dir(dir), "outside")
	link(t, filepath.Join(filepath.Dir(dir), "outside"), filepath.Join(dir, "c", "away"))
	link(t, "..", filepath.Join(dir, "c", "loop"))
	makePipe(t, filepath.Join(dir, "c", "pipe"))
	assert.Equal(t, map[string]string{"c/away": "untracked", "c/loop": "untracked", "c/pipe": "untracked"},
		states(t, req))

	remove(t, dir, "c/a.h")
	makePipe(t, filepath.Join(dir, "c", "a.h"))
	_, err := Generate(req, false)
	assert.Contains(t, requireKind(t, err, KindModified).Error(), "found a pipe, socket or device")
	remove(t, dir, "c/a.h")
	link(t, "other", filepath.Join(dir, "c", "a.h"))
	_, err = Generate(req, false)
	assert.Contains(t, requireKind(t, err, KindModified).Error(), "found a symbolic link")
	assert.Contains(t, requireKind(t, err, KindModified).Findings[0].Hint, "--force")
	_, err = Clean(req, false)
	assert.Contains(t, requireKind(t, err, KindModified).Error(), "found a symbolic link")
	assert.Equal(t, "move it away", requireKind(t, err, KindModified).Findings[0].Hint)
	generated(t, forced(req))
	assert.Equal(t, ours("a"), disked(t, dir)["c/a.h"])
}

func makePipe(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(name, 0o644))
}

// A pipe in place of our folder is not opened: the run ends, and reports the pipe.
func TestAPipeInThePlaceOfADirectory(t *testing.T) {
	dir, req := oneFile(t)
	remove(t, dir, "c")
	makePipe(t, filepath.Join(dir, "c"))
	_, err := Generate(req, false)
	assert.Contains(t, requireKind(t, err, KindConflict).Error(), "a file is in the place of a directory")
	_, err = Clean(req, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"c"}, names(disked(t, dir)))
}

// A pipe that a link leads to is neither opened nor replaced, wherever it is.
func TestSideFilesReplaceNoLinkToAPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere := t.TempDir()
	makePipe(t, "pipe")
	makePipe(t, filepath.Join(elsewhere, "pipe"))
	link(t, "pipe", "here")
	link(t, filepath.Join(elsewhere, "pipe"), "there")
	link(t, "there", "two")
	requireSidesRejected(t, "pipe", "here", "there", "two")
}
