package lint

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextsInEachMatch(t *testing.T) {
	for expression, texts := range map[string][]string{
		"one":                      {"one"},
		`(?:^|\s)/(?:work|home)/x`: {"work", "home"},
		`--(?:extra-)?first|a\.b`:  {"first", "a.b"},
		`(?i)\bF[o]ur[ ]words?\b`:  {"four"},
		`a+b{2,}`:                  {"a"},
		"one|[0-9]+":               nil,
		"(?:one)?":                 nil,
		"(?:one)*":                 nil,
	} {
		parsed, err := syntax.Parse(expression, syntax.Perl)
		require.NoError(t, err)
		assert.Equal(t, texts, requiredTexts(parsed), expression)
	}
}

func TestOnlyFilesWithATextAreSearched(t *testing.T) {
	p := compile(`(?i)\bone[0-9]|two\b`)
	assert.True(t, p.mayMatch([]byte("first\nONE1\n")))
	assert.True(t, p.mayMatch([]byte("only the text: two2")))
	assert.False(t, p.mayMatch([]byte("three\n")))
	assert.True(t, compile("one|[0-9]+").mayMatch([]byte("three\n")))
}
