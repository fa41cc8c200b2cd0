package onnxruntime

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// The table of tensors.h has the supported dtypes and, of ONNX, two more.
func TestDTypesAreThoseOfTheTableInC(t *testing.T) {
	text, err := templates.Text("onnxruntime/tensors.h")
	require.NoError(t, err)
	var table []string
	for _, m := range regexp.MustCompile(`\[DLPACKGEN_ONNXRUNTIME_(\w+)\] = \{`).FindAllStringSubmatch(text, -1) {
		table = append(table, strings.ToLower(m[1]))
	}
	assert.ElementsMatch(t, append([]string{"complex64", "complex128"}, types...), table)
}
