package codes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// without lists the codes that no example can show, with a test that reports each of them.
var without = map[string]struct{ why, reporter string }{
	"internal":       {"no input is known to cause it", "cmd/dlpackgen/app_test.go"},
	"invalid-layout": {"no command reads descriptions of hosts, which are embedded", "internal/hosts/hosts_test.go"},
}

func TestEntriesAreComplete(t *testing.T) {
	for _, e := range All() {
		assert.Regexp(t, `^[A-Z].*\.$`, e.Summary, e.Code)
		assert.NotContains(t, e.Summary, "\n", e.Code)
		assert.Regexp(t, `\.$`, e.Fix, e.Code)
		assert.NotEmpty(t, e.Group, e.Code)
		excuse, excused := without[e.Code]
		assert.Equal(t, !excused, e.Example != nil, "%s needs an example, or a reason in the table", e.Code)
		if excused {
			text, err := os.ReadFile(filepath.Join(golden.Root(t), excuse.reporter))
			require.NoError(t, err)
			assert.Contains(t, string(text), "["+e.Code+"]", "its test reports it")
		}
	}
	for code, excuse := range without {
		_, _, ok := Find(code)
		assert.True(t, ok && excuse.why != "", code)
	}
}

// An example of a change that compat does not know would be lost.
func TestExamplesOfChangesAreThoseOfTheRules(t *testing.T) {
	text, err := texts.ReadFile("text/" + changesFile)
	require.NoError(t, err)
	var shown, known []string
	for _, e := range parse(string(text)).Entries {
		shown = append(shown, e.Code)
		assert.Empty(t, e.Summary+e.Why+e.Fix, "%s: its sentences are in compat", e.Code)
	}
	for _, r := range compat.Rules() {
		known = append(known, r.Name)
	}
	assert.Equal(t, known, shown)
}

func TestFindSuggests(t *testing.T) {
	e, _, ok := Find("yaml-tab")
	assert.True(t, ok)
	assert.Equal(t, "yaml-tab", e.Code)
	_, hint, ok := Find("yaml-tba")
	assert.False(t, ok)
	assert.Equal(t, `did you mean "yaml-tab"?`, hint)
}

func TestParse(t *testing.T) {
	g := parse(
		"# Files\n\nAbout\nfiles.\n\n## a-b\n\nA is\nB.\n\nSince\nC.\n\nOr D.\n\nFix: do\nE.\n\n```yaml\nx: 1\n```\n\n" +
			"```text\nout\n```\n\n## c\n\nC.\n\nFix: none.\n")
	assert.Equal(t, Group{Title: "Files", Text: "About files.", Entries: []Entry{
		{Code: "a-b", Group: "Files", Summary: "A is B.", Why: "Since C.\n\nOr D.", Fix: "do E.",
			Example: &Example{Language: "yaml", Input: "x: 1\n", Output: "out\n"}},
		{Code: "c", Group: "Files", Summary: "C.", Fix: "none."},
	}}, g)
}

func TestTextFitsATerminal(t *testing.T) {
	text := Text(Entry{Code: "a", Summary: "B.", Why: strings.Repeat("word ", 50) + "end.\n\nMore.", Fix: "c.",
		Example: &Example{Input: "x\n\ny\n", Output: "z\n"}})
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(line), columns+1)
	}
	for _, e := range All() {
		for line := range strings.Lines(Text(e)) {
			assert.LessOrEqual(t, len(line), columns+1, "%s: %s", e.Code, line)
		}
		assert.LessOrEqual(t, len(e.Summary), 76, "%s: one line of the list of codes", e.Code)
	}
	assert.Contains(t, text, "end.\n\nMore.\n\nFix: c.\n\nExample:\n\n  x\n\n  y\n\nOutput:\n\n  z\n")
}
