package spec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEmbeddedSpecIsValid(t *testing.T) {
	s := Embedded()
	require.Equal(t, "1.3", s.Latest())
	require.Len(t, s.Releases(), 13)
}
