package emit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnAssetIsItsSourceBelowTheBanner(t *testing.T) {
	files, err := Render("1.3", Manifest{Words: Words{"b", "B"}, Assets: []Asset{
		{To: "x.h", Text: []byte("a b c\n"), Words: Words{"a", "b"}}, {To: "y.c", Text: []byte("b\n"), Once: true},
	}})
	require.NoError(t, err)
	assert.Equal(t, []File{
		{Path: "x.h", Data: []byte(Banner("x.h", "1.3") + "b B c\n")}, // replacements are not replaced again
		{Path: "y.c", Data: []byte(StarterLine("y.c") + "B\n"), Once: true},
	}, files)
}

// Names in the config may contain a placeholder by chance.
func TestWordsOfAViewStay(t *testing.T) {
	files, err := Render("1.3", Manifest{Words: Words{"kernels.h", "v0_0"}, Assets: []Asset{
		{From: "kernels/error.c.tmpl", To: "a.c", View: "kernels.h"}}})
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), `#include "v0_0"`)
	assert.Contains(t, string(files[0].Data), "const char* kernels.h(int status)")
}

func TestManifestsThatCannotBeRendered(t *testing.T) {
	for _, a := range []Asset{
		{From: "c/none.h", To: "a.h"}, {From: "c/none.h.tmpl", To: "a.h"},
		{From: "c/dlpack.h.tmpl", To: "a.h", View: 1}, {To: "a.go", Text: []byte("package a\n")},
	} {
		_, err := Render("1.3", Manifest{Assets: []Asset{a}})
		assert.ErrorContains(t, err, "rendering a.")
	}
}
