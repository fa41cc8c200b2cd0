package emit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap(t *testing.T) {
	assert.Empty(t, Wrap(" \n ", 10))
	assert.Equal(t, []string{"one two", "three"}, Wrap("one  two\nthree", 8))
	long := strings.Repeat("x", 20)
	assert.Equal(t, []string{"a", long, "b"}, Wrap("a "+long+" b", 8))
}
