package notation

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// section is a part of docs/kernels.md, between two headings.
func section(t *testing.T, from, to string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/kernels.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "\n"+from+"\n")
	require.True(t, found, from)
	text, _, found := strings.Cut(rest, "\n"+to+"\n")
	require.True(t, found, to)
	return text
}

var (
	codeSpan     = regexp.MustCompile("`([^`]+)`")
	modifierRow  = regexp.MustCompile("(?m)^\\| `(\\w+)[^`]*` \\|")
	modifierLink = regexp.MustCompile(`\[([^\]]+)\]\(#modifiers\)`)
)

// The page explains exactly the modifiers of the language, and links each of them by its purpose.
func TestThePageExplainsEachModifier(t *testing.T) {
	var explained, found []string
	for _, m := range modifierRow.FindAllStringSubmatch(section(t, "### Modifiers", "### Extents"), -1) {
		explained = append(explained, m[1])
	}
	assert.ElementsMatch(t, Modifiers, explained)
	for _, m := range modifierLink.FindAllStringSubmatch(section(t, "## Which modifier do I need?", "## Lines"), -1) {
		for _, span := range codeSpan.FindAllStringSubmatch(m[1], -1) {
			modifier, _, _ := strings.Cut(span[1], " ")
			found = append(found, modifier)
		}
	}
	assert.ElementsMatch(t, Modifiers, found)
}

// The lines and conditions in the tables of purposes are valid.
func TestTheExamplesOfThePageAreValid(t *testing.T) {
	lines, conditions := 0, 0
	for row := range strings.Lines(section(t, "## Which modifier do I need?", "## Lines")) {
		cells := strings.Split(strings.ReplaceAll(row, `\|`, "\x00"), "|")
		if len(cells) != 4 {
			continue
		}
		var spans []string
		for _, m := range codeSpan.FindAllStringSubmatch(strings.ReplaceAll(cells[2], "\x00", "|"), -1) {
			spans = append(spans, m[1])
		}
		limits := slices.Contains(spans, "where:")
		for _, span := range spans {
			switch {
			case limits && strings.Contains(span, " "):
				_, err := ParseCond(span)
				assert.Nil(t, err, span)
				conditions++
			case strings.Contains(span, "["):
				_, line, named := strings.Cut(span, ": ")
				if !named {
					line = span
				}
				_, err := ParseLine(strings.ReplaceAll(line, "N", "2"))
				assert.Nil(t, err, span)
				lines++
			}
		}
	}
	assert.Greater(t, lines, 6)
	assert.Greater(t, conditions, 3)
}
