package kernel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"x", "scale_add", "X1", "a0_b"} {
		assert.Empty(t, CheckName(good), good)
	}
	for _, bad := range []string{"", "1x", "a-b", "a.b", "é", "x_", "a__b", "class", "import",
		strings.Repeat("a", 101)} {
		assert.NotEmpty(t, CheckName(bad), bad)
	}
}

func TestSymbols(t *testing.T) {
	for _, good := range []string{"square", "N", "aten_square", "dlpack_main"} {
		assert.Empty(t, CheckSymbol(good), good)
	}
	for _, bad := range []string{"NULL", "INT64_MAX", "TORCH_CHECK", "std", "main", "at"} {
		assert.NotEmpty(t, CheckSymbol(bad), bad)
	}
}
