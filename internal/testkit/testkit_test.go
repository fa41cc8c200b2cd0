package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(Main(m, "testkit")) }

func TestBuilt(t *testing.T) {
	times := 0
	fill := func(dir string) {
		times++
		Run(t, "cp", "testkit.go", dir)
	}
	assert.Equal(t, Built(t, "one", fill), Built(t, "one", fill))
	assert.NotEqual(t, Built(t, "one", fill), Built(t, "another", fill))
	assert.FileExists(t, filepath.Join(Built(t, "another", fill), "testkit.go"))
	assert.Equal(t, 2, times)
}

func TestFits(t *testing.T) {
	assert.True(t, Fits([]string{`a\d|b`, "c"}, []string{"a1", "c"}))
	assert.False(t, Fits([]string{`a\d|b`, "c"}, []string{"a1", "cc"}), "all of a line")
	assert.False(t, Fits([]string{`a\d|b`}, []string{"xb"}), "all of a line, whichever it is")
	assert.False(t, Fits([]string{"a"}, []string{"a", "a"}), "every line")
}

func TestLinesAndTried(t *testing.T) {
	assert.Equal(t, []string{"a", "b c"}, Lines(t, exec.Command("printf", `a\nb c\n`)))
	assert.Equal(t, []string{"a", "x"}, Tried([]string{"WHAT=x"}, "sh", "-c", `echo a; echo "$WHAT"`))
	assert.Nil(t, Tried(nil, "sh", "-c", "echo a; exit 1"))
	assert.Nil(t, Tried(nil, "sh", "-c", "echo a; echo complaint >&2"))
}

// A process without an end is stopped, and others are not.
func TestLimited(t *testing.T) {
	assert.NoError(t, Limited("sh", "-c", "exit 0").Run())
	assert.Error(t, Limited("sh", "-c", "ulimit -t 1; while :; do :; done").Run())
	out, err := Limited("sh", "-c", "ulimit -t").Output()
	require.NoError(t, err)
	assert.Equal(t, "10\n", string(out))
}

func TestVerdicts(t *testing.T) {
	assert.Equal(t, map[string]string{"missed 0 x.py": "ok a\nok b\n", "caught 1 x.py y": ""},
		Verdicts("missed 0 x.py\n\tok a\n\tok b\ncaught 1 x.py y\n"))
}

// failing is a test that records whether it fails, and ends there.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper()               {}
func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) FailNow()              { panic(f) }

func TestMutated(t *testing.T) {
	source := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(source, "x.c"), []byte("one two two"), 0o600))
	text, err := os.ReadFile(filepath.Join(Mutated(t, source, "x.c", "one", "1"), "x.c"))
	require.NoError(t, err)
	assert.Equal(t, "1 two two", string(text))
	for _, old := range []string{"two", "three"} {
		f := &failing{TB: t}
		assert.Panics(t, func() { Mutated(f, source, "x.c", old, "1") }, old)
		assert.True(t, f.failed, "%s does not occur exactly once", old)
	}
}
