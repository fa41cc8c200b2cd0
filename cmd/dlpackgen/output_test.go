package main

import (
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// If a file of a folder cannot be written, the folder is not created.
func TestAFolderIsWholeOrAbsent(t *testing.T) {
	t.Chdir(t.TempDir())
	require.Error(t, createFolder("made", []emit.File{{Path: "a/b", Data: []byte("b")}, {Path: "a/b/c"}}))
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, createFolder("made", []emit.File{{Path: "a/b", Data: []byte("b")}}))
	assert.FileExists(t, "made/a/b")
	assert.ErrorContains(t, createFolder("made", nil), "already exists")
}

// The error names the folder without write permission, not the temporary file.
func TestAFolderThatMayNotBeWrittenToIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	require.NoError(t, err)
	denied := &fs.PathError{Op: "mkdir", Path: "./.made-123", Err: syscall.EACCES}
	failed := notCreated("made", denied)
	assert.Equal(t, "cannot write made to the folder "+here+": permission denied", failed.Error())
	assert.NotEmpty(t, failed.findings[0].Hint)
	full := &fs.PathError{Op: "open", Path: "made", Err: syscall.ENOSPC}
	assert.ErrorContains(t, notCreated("made", full), "open made: ")
}
