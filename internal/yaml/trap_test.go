package yaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// yaml.v3 reports the line of the outer bracket, counted from 0; the parser finds the token that
// ended the value early.
func TestValuesThatEndEarlyInFlowMappings(t *testing.T) {
	const brackets = "inside { } and [ ], write a value that contains one of [ ] { } , in quotes"
	for text, want := range map[string]diag.Pos{
		"a: {x: T[n]}":                                {Line: 1, Col: 9},
		"a: 1\nb:\n  c: {x: f_{T}}\nd: 2":             {Line: 3, Col: 12},
		"a: T[n]\nb: {x: 1,\n  y: \"T[n]\", z: T[m]}": {Line: 3, Col: 18},
		"a: [x, 'T[n]', T[n] strided]":                {Line: 1, Col: 17},
	} {
		diags := &diag.List{}
		assert.Nil(t, yaml.Parse("", []byte(text), diags), text)
		require.Equal(t, 1, diags.Len(), text)
		found := diags.Sorted()[0]
		assert.Equal(t, want, found.Pos, text)
		assert.Equal(t, brackets, found.Hint, text)
	}
}

func TestCommentsThatEndAValue(t *testing.T) {
	diags := &diag.List{}
	assert.Nil(t, yaml.Parse("", []byte("a: {x: str = #red}"), diags))
	assert.Contains(t, diags.Sorted()[0].Hint, "begins a comment")
	for text, want := range map[string]string{
		"a: str = #red": "#red", "a: 1   # why": "# why", "a: x#y": "", "a: 'x' # y": "", "a: x": "", "a: |\n  x\n": "",
		"a: {}  # x": "",
	} {
		node := yaml.Parse("", []byte(text), &diag.List{})
		require.NotNil(t, node, text)
		assert.Equal(t, want, node.Entries[0].Value.Comment(), text)
	}
}

// yaml.v3 reports where a block begins, or the line after the mistake.
func TestHintsOfSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n   b: 1\n  c: 2\n": "the block that begins here has the wrong indentation",
		"a:\n  b 1\n  c: 2\n":   "the line above lacks its colon",
		"a:\n  b: 1\n   c: 2\n": "or has another indentation",
	} {
		diags := &diag.List{}
		assert.Nil(t, yaml.Parse("", []byte(text), diags), text)
		require.Equal(t, 1, diags.Len(), text)
		assert.Contains(t, diags.Sorted()[0].Hint, want, text)
	}
}
