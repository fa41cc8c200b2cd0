package codes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/compat"
)

// without lists the codes that no example can show, or not on every machine.
var without = map[string]string{
	"busy":            "takes minutes of waiting",
	"internal":        "is a defect",
	"invalid-layout":  "concerns files inside the tool",
	"verify-alias":    "needs an old release with an alias",
	"verify-builtin":  "needs a system whose C library differs",
	"verify-target":   "needs a compiler for an unusual target",
	"verify-no-debug": "needs a compiler that writes no DWARF",
}

func TestEntriesAreComplete(t *testing.T) {
	for _, e := range All() {
		assert.Regexp(t, `^[A-Z].*\.$`, e.Summary, e.Code)
		assert.NotContains(t, e.Summary, "\n", e.Code)
		assert.Regexp(t, `\.$`, e.Fix, e.Code)
		assert.NotEmpty(t, e.Group, e.Code)
		if without[e.Code] == "" && e.Group != changes().Title {
			assert.NotNil(t, e.Example, e.Code)
		}
	}
	for code := range without {
		e, _, ok := Find(code)
		assert.True(t, ok && e.Example == nil, code)
	}
	assert.Len(t, changes().Entries, len(compat.Rules()))
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
	g := parse("# Files\n\nAbout\nfiles.\n\n## a-b\n\nA is\nB.\n\nSince\nC.\n\nOr D.\n\nFix: do\nE.\n\n```yaml\nx: 1\n```\n\n" +
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
