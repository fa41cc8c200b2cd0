package onnxruntime

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// The table of tensors.h has the supported dtypes and, of ONNX, two more.
func TestDTypesAreThoseOfTheTableInC(t *testing.T) {
	var table []string
	for _, m := range emittest.Matches(t, "onnxruntime/tensors.h", `\[DLPACKGEN_ONNXRUNTIME_(\w+)\] = \{`) {
		table = append(table, strings.ToLower(m[1]))
	}
	assert.ElementsMatch(t, append([]string{"complex64", "complex128"}, types...), table)
}
