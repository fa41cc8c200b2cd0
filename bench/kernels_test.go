package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestKernelsAreMeasured(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a module and generates 1,000 kernels")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchKernels(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	measured := map[string]float64{}
	for _, g := range goals {
		measured[g.name] = g.measured
		assert.Positive(t, g.measured, g.name)
	}
	require.Len(t, measured, 7)
	assert.Equal(t, 15.0, measured["kernels-yaml-lines"], "of axpy_softmax, with the line above them")
	assert.Less(t, measured["kernels-generate-1000-peak"], 130.0, "MiB: the garbage is collected")
}
