package onnxruntime

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// Each dtype of ONNX is one of the spec, whose code and width are in the table of dtypes.h.
func TestDTypesAreThoseOfTheSpec(t *testing.T) {
	var table []string
	for _, d := range dtypesOf(emittest.Release(t, "1.3")) {
		table = append(table, strings.ToLower(d.Constant))
	}
	assert.ElementsMatch(t, append([]string{"complex64", "complex128"}, types...), table)
	assert.Contains(t, dtypesOf(emittest.Release(t, "1.3")), dtype{"COMPLEX128", "kDLComplex", 128})
}
