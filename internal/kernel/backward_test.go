package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsed is a schema whose results are like these arguments.
func parsed(t *testing.T, text string, likes ...string) Schema {
	t.Helper()
	s, fault := Parse(text)
	require.Nil(t, fault, text)
	require.Len(t, s.Results, len(likes))
	for i := range s.Results {
		s.Results[i].Like = likes[i]
	}
	return s
}

func TestABackwardMustFit(t *testing.T) {
	forward := parsed(t, "(Tensor x, float a, Tensor w) -> Tensor", "x")
	fits := parsed(t, "(Tensor g, Tensor u, float a, Tensor v) -> (Tensor, Tensor)", "u", "v")
	assert.Empty(t, forward.CheckBackward(fits), "names are free")
	for want, pair := range map[string][2]Schema{
		"without a result": {parsed(t, "(Tensor x) -> ()"), fits},
		"may write":        {parsed(t, "(Tensor x, Tensor(a!) y) -> Tensor", "x"), fits},
		"nor the backward may": {forward,
			parsed(t, "(Tensor(a!) g, Tensor x, float a, Tensor w) -> (Tensor, Tensor)", "x", "w")},
		"no optional tensor":     {parsed(t, "(Tensor? x) -> Tensor", "x"), fits},
		"must take (Tensor grad": {forward, parsed(t, "(Tensor x, float a, Tensor w) -> (Tensor, Tensor)", "x", "w")},
		"float a, Tensor w) ->": {forward,
			parsed(t, "(Tensor g, Tensor x, int a, Tensor w) -> (Tensor, Tensor)", "x", "w")},
		"grad0, Tensor x": {forward,
			parsed(t, "(Tensor g, Tensor? x, float a, Tensor w) -> (Tensor, Tensor)", "w", "w")},
		"give 2 results": {forward, parsed(t, "(Tensor g, Tensor x, float a, Tensor w) -> Tensor", "x")},
		"the gradient of w: it must be like w, not like x": {forward,
			parsed(t, "(Tensor g, Tensor x, float a, Tensor w) -> (Tensor, Tensor)", "x", "x")},
	} {
		assert.Contains(t, pair[0].CheckBackward(pair[1]), want)
	}
}
