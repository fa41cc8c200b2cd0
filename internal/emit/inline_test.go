package emit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// part returns a header with an include guard.
func part(name, text string) Asset {
	return Asset{To: name,
		Text: []byte("/* " + name + " */\n#ifndef X_H_\n#define X_H_\n\n" + text + "\n#endif /* X_H_ */\n")}
}

func TestPartsStandWhereTheyAreFirstIncluded(t *testing.T) {
	whole := Asset{To: "whole.c",
		Text: []byte("#include \"own.h\"\n#include <a.h>\n\n#include \"b.h\"\n#include \"known.h\"\nint whole;\n"),
		Parts: []Asset{part("a.h", "#include <stdio.h>\n#include \"known.h\"\nint a;\n"),
			part("b.h", "#include \"a.h\"\nint b;\n")},
		Known: map[string]string{"own.h": "whole.h", "known.h": "whole.h"}}
	files, err := Render("1.3", Manifest{Assets: []Asset{whole}, Words: Words{"int b", "long b"}})
	require.NoError(t, err)
	assert.Equal(t, Banner("whole.c",
		"1.3")+
		"#include \"whole.h\"\n\n#include <stdio.h>\n\n/* a.h */\n\nint a;\n\n/* b.h */\n\nlong b;\n\nint whole;\n",
		string(files[0].Data))
}

func TestPartsThatCannotBePutIn(t *testing.T) {
	for text, parts := range map[string][]Asset{
		"its part a.h includes itself":      {part("a.h", "#include \"b.h\"\n"), part("b.h", "#include \"a.h\"\n")},
		"nothing includes its part b.h":     {part("a.h", ""), part("b.h", "")},
		"open python/none.h: file does not": {{From: "python/none.h", To: "a.h"}},
	} {
		_, err := Render("1.3",
			Manifest{Assets: []Asset{{To: "x.c", Text: []byte("#include \"a.h\"\n"), Parts: parts}}})
		assert.ErrorContains(t, err, text)
	}
}

func TestOnlyAGuardIsRemoved(t *testing.T) {
	for _, text := range []string{"int a;\n", "#ifndef A\n#define A 1\n#endif\n", "#ifndef A\n#define B\n#endif\n"} {
		assert.Equal(t, text, unguarded(text))
	}
}

func TestBlankLinesInARowBecomeOne(t *testing.T) {
	for text, want := range map[string]string{"": "", "a\n": "a\n", "a\n\nb\n": "a\n\nb\n",
		"a\n\n\nb\n\n\n\n\nc": "a\n\nb\n\nc",
		"\n\n\na\n\n\n":       "\n\na\n\n"} {
		for at := range len(text) + 1 {
			texts := []string{text[:at], text[at:]}
			assert.Equal(t, "\n"+want, string(join("\n", texts, true)), "%q", texts)
			assert.Equal(t, "\n"+text, string(join("\n", texts, false)), "%q", texts)
		}
	}
}

// A heading precedes the code of its part, and names no file.
func TestHeadingsOfParts(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for _, c := range []struct{ name, text, want string }{
		{"of one line", "/* One. */\nint a;\n", "/* One. */\n\nint a;\n"},
		{"after includes", "/* One. */\n#include <a.h>\n\n#include <b.h>\nint a;\n",
			"#include <a.h>\n\n#include <b.h>\n\n/* One. */\n\nint a;\n"},
		{"a file", "/**\n * \\file p.h\n * One.\n *\n * Two.\n */\nint a;\n",
			"/*\n * One.\n *\n * Two.\n */\n\nint a;\n"},
		{"a file and a text", "/**\n * \\file p.h One.\n */\nint a;\n", "/* One. */\n\nint a;\n"},
		{"part of a file", "/* One. Part of\n * whole.c, or of none. Two. */\nint a;\n", "/* One. Two. */\n\nint a;\n"},
		{"lines are filled", "/* " + long + "\n * end. */\nint a;\n", "/* " + strings.Repeat("word ", 18) +
			"word\n * " + strings.Repeat("word ", 11) + "end. */\n\nint a;\n"},
		{"a full last line", "/* " + strings.Repeat("w", 60) + " " + strings.Repeat("w", 35) + " */\nint a;\n",
			"/* " + strings.Repeat("w", 60) + "\n * " + strings.Repeat("w", 35) + " */\n\nint a;\n"},
		{"code in it", "/* One:\n *\n *     a = b\n *     c */\nint a;\n",
			"/*\n * One:\n *\n *     a = b\n *     c\n */\n\nint a;\n"},
		{"two slashes", "// One.\n// Two. Part of a.cpp.\nint a;\n", "// One. Two.\n\nint a;\n"},
		{"no comment", "int a;\n", "int a;\n"},
		{"no code", "/* One. */\n#include <a.h>\n", "#include <a.h>\n"},
	} {
		for _, guards := range []bool{false, true} {
			text, want := c.text, c.want
			if guards {
				comment, rest := firstComment(c.text)
				text = comment + "#ifndef G\n#define G\n\n" + rest + "\n#endif\n"
				want = "#ifndef G\n#define G\n\n" + c.want + "\n#endif\n"
			}
			whole := Asset{To: "x.c", Text: []byte("#include \"p.h\"\n"), Guards: guards,
				Parts: []Asset{{To: "p.h", Text: []byte(text)}}}
			files, err := Render("1.3", Manifest{Assets: []Asset{whole}})
			require.NoError(t, err)
			got := strings.TrimPrefix(string(files[0].Data), Banner("x.c", "1.3"))
			assert.Equal(t, strings.Trim(want, "\n"), strings.Trim(got, "\n"), "%s, guards: %v", c.name, guards)
		}
	}
}
