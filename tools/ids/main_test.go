package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goTests = `package p

var rows = map[string]struct{ a string }{"a name": {"x"}, "b": {"y"}}

var mutants = []struct{ file, old string }{{"x.c", "a  " +
	"b"}, {"x.c", "c"}}

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
	assert.Equal(t, []string{"cmd/x/testdata/script/clean.txtar", "tests/p FuzzTwo", "tests/p TestOne",
		"tests/p row a name",
		"tests/p row b", "tests/p row x.c | a b", "tests/p row x.c | c", "tests/p/rules.py test_a"}, ids)
}

func TestLostIDsNeedASuccessor(t *testing.T) {
	assert.Empty(t, lostIDs([]string{"p TestA"}, []string{"q TestA"}, ""), "it has moved")
	assert.Equal(t, []string{"p TestA"}, lostIDs([]string{"p TestA", "q TestA"}, []string{"q TestA"}, ""))
	before, now := []string{"p a", "p b", "p c"}, []string{"p a", "p d"}
	assert.Equal(t, []string{"p b", "p c"}, lostIDs(before, now, ""))
	assert.Equal(t, []string{"p c"}, lostIDs(before, now, "p b => p d\np c => no such id\n"))
	assert.Empty(t, lostIDs(before, now, "p b => gone: a reason\np c => p d\n"))
	assert.Empty(t, lostIDs(before, now, "p b => p e\np e => p d\np c => p e\n"), "a successor of a successor")
	assert.Equal(t, []string{"p b", "p c"}, lostIDs(before, now, "p b => p c\np c => p b\n"), "in a circle")
}
