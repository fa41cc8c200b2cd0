package golang

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

func TestTheImportPathOfABinding(t *testing.T) {
	for _, test := range []struct {
		model        emit.Model
		path, prefix string
	}{
		{emit.Model{}, "", "dlpack"},
		{emit.Model{Import: "example.org/f"}, "example.org/f", "example.org/f"},
		{emit.Model{Import: "example.org/f", Options: map[string]string{emit.OptionImport: "example.org/x"}},
			"example.org/x", "example.org/x"},
		{emit.Model{Options: map[string]string{optionPackage: "tensor"}}, "", "tensor"},
		{emit.Model{Options: map[string]string{emit.OptionImport: "example.org/x"}}, "example.org/x", "example.org/x"},
	} {
		test.model.Release = emittest.Release(t, "1.3")
		b, err := newBinding(&test.model)
		require.NoError(t, err)
		assert.Equal(t, test.path, b.path)
		assert.Equal(t, emit.GoPrefix(test.prefix), b.prefix)
	}
}
