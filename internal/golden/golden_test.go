package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompareFailsUntilBlessed(t *testing.T) {
	root := t.TempDir()
	require.ErrorContains(t, compare(root, "a/b.txt", []byte("one\n"), false), "golden/a/b.txt: missing")
	require.NoError(t, compare(root, "a/b.txt", []byte("one\n"), true))
	require.NoError(t, compare(root, "a/b.txt", []byte("one\n"), false))

	err := compare(root, "a/b.txt", []byte("two\n"), false)
	require.ErrorContains(t, err, "-one\n+two\n")
	data, readErr := os.ReadFile(filepath.Join(root, "a", "b.txt"))
	require.NoError(t, readErr)
	assert.Equal(t, "one\n", string(data), "a failed comparison writes nothing")
}

func TestOrphansAreNamed(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"x/kept.txt", "x/deep/lost.json"} {
		require.NoError(t, compare(root, name, []byte("1"), true))
	}
	lost, err := orphans(root, "x", []string{"x/kept.txt"})
	require.NoError(t, err)
	assert.Equal(t, []string{"x/deep/lost.json"}, lost)

	_, err = orphans(root, "absent", nil)
	assert.Error(t, err, "a folder that is not there owns nothing and is a mistake in the test")
}

func TestRootHoldsTheModule(t *testing.T) {
	assert.FileExists(t, filepath.Join(Root(t), "internal", "golden", "golden.go"))
}
