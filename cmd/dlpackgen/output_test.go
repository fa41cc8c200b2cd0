package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// A folder whose files cannot all be written is not there at all.
func TestAFolderIsWholeOrAbsent(t *testing.T) {
	t.Chdir(t.TempDir())
	require.Error(t, createFolder("made", []emit.File{{Path: "a/b", Data: []byte("b")}, {Path: "a/b/c"}}))
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, createFolder("made", []emit.File{{Path: "a/b", Data: []byte("b")}}))
	assert.FileExists(t, "made/a/b")
	assert.ErrorContains(t, createFolder("made", nil), "is there already")
}
