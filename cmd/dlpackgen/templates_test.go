package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/templated"
)

// Each file of a folder is within its limit, and all together are not.
func TestAFolderOfTemplatesIsLimited(t *testing.T) {
	var all []emit.Source
	for range templated.MaxFolder / templated.MaxBytes {
		all = append(all, emit.Source{Data: make([]byte, templated.MaxBytes)})
	}
	assert.NoError(t, withinFolder("d", all))
	assert.ErrorContains(t, withinFolder("d", append(all, emit.Source{Data: []byte("x")})),
		"the files of the folder have more than 16777216 bytes together")
}
