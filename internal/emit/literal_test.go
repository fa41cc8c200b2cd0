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
