package emit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLiteralsOfC(t *testing.T) {
	for text, want := range map[string]string{
		"":                `""`,
		`a"b\c?`:          `"a\"b\\c\?"`,
		"a\nb\tc\rd1\x7f": `"a\nb\tc\015d1\177"`,
		"ä":               `"ä"`,
	} {
		assert.Equal(t, want, CLiteral(text))
	}
}

func TestDocstringsEndWhereTheTextEnds(t *testing.T) {
	for text, want := range map[string]string{
		"":              `""""""`,
		"one":           `"""one"""`,
		"a\n\n\nb\n  c": "\"\"\"a\n\n\n    b\n      c\"\"\"",
		`says "a"`:      `"""says "a\""""`,
		`"a" or 'b'`:    `""""a" or 'b'"""`,
		`"""`:           `"""\"\"\""""`,
		`a """"" b`:     `"""a \"\"\""" b"""`,
		`ends in \"`:    `"""ends in \\\""""`,
		`ends in \`:     `"""ends in \\"""`,
	} {
		assert.Equal(t, want, PythonDocstring(text, "    "))
	}
}
