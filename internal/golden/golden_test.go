package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompareFailsUntilUpdated(t *testing.T) {
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

// recorder is a test that continues after a failure.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Error(args ...any) { r.failures = append(r.failures, fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestATestThatDiffersFails(t *testing.T) {
	defer func(was bool) { *update = was }(*update)
	*update = false // otherwise it would accept what it must reject

	r := &recorder{TB: t}
	Assert(r, "no/such.txt", nil)
	require.Len(t, r.failures, 1)
	assert.Contains(t, r.failures[0], "golden/no/such.txt: missing")

	r = &recorder{TB: t}
	Orphans(r, "abi", []string{"abi/1.3.txt"})
	assert.Contains(t, r.failures,
		"golden/abi/1.2.txt: no test owns this file; delete it, or run the test with -update")
	assert.NotContains(t, fmt.Sprint(r.failures), "abi/1.3.txt")
}
