package tier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	rows, err := parse("# a comment\n\na/b quick 12\nc test 3 gen/c tests/c\nd nightly 4 uncached: reads the network\n")
	require.NoError(t, err)
	assert.Equal(t, []Package{
		{Path: "a/b", Tier: Quick, Cost: 12, Inputs: []string{}},
		{Path: "c", Tier: Test, Cost: 3, Inputs: []string{"gen/c", "tests/c"}},
		{Path: "d", Tier: Nightly, Cost: 4, Uncached: "reads the network"},
	}, rows)
	for _, wrong := range []string{"a", "a quick", "a often 1", "a quick much"} {
		_, err := parse(wrong)
		assert.Error(t, err, wrong)
	}
}

func TestEachInputExists(t *testing.T) {
	all, err := Packages()
	require.NoError(t, err)
	for _, p := range all {
		for _, input := range append([]string{p.Path}, p.Inputs...) {
			_, err := os.Stat(filepath.Join("..", "..", input))
			assert.NoError(t, err, p.Path)
		}
	}
}

// skipper is a test that records whether it was skipped.
type skipper struct {
	testing.TB
	skipped bool
}

func (s *skipper) Helper()     {}
func (s *skipper) Skip(...any) { s.skipped = true }

func TestOnlyNightly(t *testing.T) {
	for tier, skips := range map[string]bool{"": true, Quick: true, Test: true, Nightly: false} {
		t.Setenv(Variable, tier)
		s := &skipper{TB: t}
		OnlyNightly(s)
		assert.Equal(t, skips, s.skipped, tier)
	}
}
