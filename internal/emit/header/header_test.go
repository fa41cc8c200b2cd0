package header

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// A separate folder finds its headers without include paths.
func TestHeadersBesideOthers(t *testing.T) {
	files, err := emit.Render("1.3", emit.Manifest{Assets: Beside(emittest.Release(t, "1.3"), "x", DLPack, Tensor)})
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, "x/dlpackgen_tensor.h", files[1].Path)
	assert.Contains(t, string(files[1].Data), `#include "dlpack.h"`)
	assert.Len(t, Beside(emittest.Release(t, "1.0"), "", DLPack, Tensor), 1, "1.0 has no helpers")
}
