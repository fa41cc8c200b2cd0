package diag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample() []Diagnostic {
	return []Diagnostic{
		{
			Severity: Error, Code: "unknown-key", Pos: Pos{"conf,ig:1.yaml", 4, 3},
			Text: `unknown key "pth"`, Hint: `did you mean "path"?`, Source: "  pth: gen/c",
		},
		{Severity: Warning, Code: "orphaned", Pos: Pos{File: "gen/c/old.h"}, Text: "100% ours,\r\nbut not planned"},
		{Severity: Note, Code: "file-not-found", Text: "nothing: to see"},
	}
}

func TestTextShowsLineCaretAndHint(t *testing.T) {
	want := `conf,ig:1.yaml:4:3: error: unknown key "pth" [unknown-key]
      pth: gen/c
      ^
    hint: did you mean "path"?
gen/c/old.h: warning: 100% ours,\u000d\u000abut not planned [orphaned]
note: nothing: to see [file-not-found]
`
	assert.Equal(t, want, Text(sample(), false))
}

func TestTextColorsOnlyWhenAsked(t *testing.T) {
	plain, colored := Text(sample(), false), Text(sample(), true)
	assert.NotContains(t, plain, "\x1b")
	for _, escape := range []string{red + "error", yellow + "warning", cyan + "note", red + "^", cyan + "hint:"} {
		assert.Contains(t, colored, escape+reset)
	}
	stripped := strings.NewReplacer(red, "", yellow, "", cyan, "", reset, "").Replace(colored)
	assert.Equal(t, plain, stripped, "colour must change nothing else")
}

func TestTextKeepsControlCharactersFromTheTerminal(t *testing.T) {
	hostile := Diagnostic{
		Severity: Error, Code: "c", Pos: Pos{"a\x1bb", 1, 3},
		Text: "evil \x1b[2J", Source: "\x00\x9b\tx", Hint: "\a",
	}
	out := Text([]Diagnostic{hostile}, false)
	for _, r := range out {
		if r != '\n' {
			assert.GreaterOrEqual(t, r, ' ', "control character %q in %q", r, out)
		}
	}
	assert.Contains(t, out, `\u0000\x9b x`)
}

func TestSnippetCaretStandsUnderItsColumn(t *testing.T) {
	long := strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500)
	tests := map[string]struct {
		source string
		col    int
		under  string // the part above the caret
	}{
		"first column":     {"abc", 1, "a"},
		"after a tab":      {"\tabc", 2, "a"},
		"after two bytes":  {"é: b", 5, "b"},
		"after an escape":  {"\x00b", 2, "b"},
		"in a long line":   {long, 501, "X"},
		"end of long line": {long, 1001, "b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			line, caret := snippet(tt.source, tt.col)
			runes := []rune(line)
			require.LessOrEqual(t, len(runes), 6*snippetWidth)
			require.Greater(t, len(runes), caret)
			assert.Equal(t, tt.under, string(runes[caret]))
		})
	}
}

func TestSnippetTakesAnyColumn(t *testing.T) {
	for _, source := range []string{"", "é", "abc", "\xff\xfe", strings.Repeat("é", 300)} {
		for col := -1; col < len(source)+3; col++ {
			line, caret := snippet(source, col)
			assert.LessOrEqual(t, caret, len([]rune(line))+1, "%q at %d", source, col)
		}
	}
}
