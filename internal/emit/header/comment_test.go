package header

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestComment(t *testing.T) {
	tests := map[string]struct {
		indent    string
		sentences []string
		want      string
	}{
		"short":           {"  ", []string{"A code.", "", "Never NULL."}, "/** A code. Never NULL. */"},
		"no text":         {"", []string{""}, "/** */"},
		"ends a comment":  {"", []string{"a */ int x; /* b"}, "/** a * / int x; / * b */"},
		"does both":       {"", []string{"/*/"}, "/** / * / */"},
		"as wide as fits": {"  ", []string{strings.Repeat("x", 71)}, "/** " + strings.Repeat("x", 71) + " */"},
		"a block": {"  ", []string{strings.Repeat("x", 72), "and more"},
			"/**\n   * " + strings.Repeat("x", 72) + "\n   * and more\n   */"},
		"a long word stands alone": {"", []string{"a " + strings.Repeat("x", 90) + " b"},
			"/**\n * a\n * " + strings.Repeat("x", 90) + "\n * b\n */"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, comment(tt.indent, tt.sentences...))
		})
	}
}

func TestBlocksKeepTheWidth(t *testing.T) {
	text := comment("  ", strings.Repeat("word and another, ", 40))
	for line := range strings.SplitSeq(text, "\n") {
		assert.LessOrEqual(t, len("  ")+len(line), width, line)
	}
}
