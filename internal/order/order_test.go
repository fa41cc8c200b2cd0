package order

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEqualTextsStayInTheirOrder(t *testing.T) {
	words := strings.Fields("c1 a1 b1 a2 c2 a3")
	By(words, func(word string) string { return word[:1] })
	assert.Equal(t, strings.Fields("a1 a2 a3 b1 c1 c2"), words)
	By([]string(nil), strings.ToUpper)
}
