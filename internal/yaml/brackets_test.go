package yaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func TestBracketsThatAreNotClosed(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [c, {\n":                  "2:8 this { is not closed; add a }",
		"k:\n  a: [b, c\n  d: 3\ne: f[x]\n": "2:6 this [ is not closed; add a ]",
		"a: {b: \"]}\", c: [1, 2]\n":        "1:4 this { is not closed; add a }",
		"a: {b: 'it''s }', c: don't\n":      "1:4 this { is not closed; add a }",
		"a: {b: \"\\\"}\", # }\n":           "1:4 this { is not closed; add a }",
		"- [1, 2]\n- [3, [4]\n":             "2:3 this [ is not closed; add a ]",
		"a: [b, c}\nd: 1\n":                 "1:9 expected ], found }; the [ in line 1, column 4 is not closed",
		"a: {b: [1,\n  2}\n":                "2:4 expected ], found }; the [ in line 1, column 8 is not closed",
		// No bracket is missing: the parser's own words.
		"a: [b: c: d]\n": "1:1 did not find expected ',' or ']'; close each { and [ that the value opens, and write a " +
			"comma between two entries",
		"a: ]\n": "1:1 did not find expected node content; check the indentation, the quotes and the brackets up to " +
			"this line",
	} {
		diags := &diag.List{}
		assert.Nil(t, yaml.Parse("k", []byte(text), diags), text)
		require.Equal(t, 1, diags.Len(), text)
		found := diags.Sorted()[0]
		assert.Equal(t, "k:"+want, found.Pos.String()+" "+found.Text+"; "+found.Hint, text)
	}
}
