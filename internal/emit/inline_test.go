package emit

import (
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
		"#include \"whole.h\"\n\n/* a.h */\n\n#include <stdio.h>\nint a;\n\n/* b.h */\n\nlong b;\n\nint whole;\n",
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
	for text, want := range map[string]string{"": "", "a\n": "a\n", "a\n\nb\n": "a\n\nb\n", "a\n\n\nb\n\n\n\n\nc": "a\n\nb\n\nc",
		"\n\n\na\n\n\n": "\n\na\n\n"} {
		assert.Equal(t, want, oneBlankLine(text), "%q", text)
	}
}
