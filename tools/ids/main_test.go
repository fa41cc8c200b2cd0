package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goTests = `package p

var rows = map[string]struct{ a string }{"a name": {"x"}, "b": {"y"}}

var mutants = []struct{ file, old string }{{"x.c", "a  b"}, {"x.c", "c"}}

func TestOne(t *testing.T) {}
func FuzzTwo(f *testing.F) {}
func helper()              {}
`

func TestIDs(t *testing.T) {
	ids, err := inTree(fstest.MapFS{
		"tests/p/p_test.go":                 {Data: []byte(goTests)},
		"tests/p/rules.py":                  {Data: []byte("def test_a(x):\n    pass\ndef helper():\n    pass\n")},
		"tests/p/testdata/q_test.go":        {Data: []byte("no Go")},
		"cmd/x/testdata/script/clean.txtar": {Data: []byte("")},
		".cache/r_test.go":                  {Data: []byte("no Go")},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"cmd/x/testdata/script/clean.txtar", "tests/p FuzzTwo", "tests/p TestOne", "tests/p row a name",
		"tests/p row b", "tests/p row x.c | a b", "tests/p row x.c | c", "tests/p/rules.py test_a"}, ids)
}

func TestLostIDsNeedASuccessor(t *testing.T) {
	before, now := []string{"a", "b", "c"}, []string{"a", "d"}
	assert.Equal(t, []string{"b", "c"}, lostIDs(before, now, ""))
	assert.Equal(t, []string{"c"}, lostIDs(before, now, "b => d\nc => no such id\n"))
	assert.Empty(t, lostIDs(before, now, "b => gone: a reason\nc => d\n"))
}
