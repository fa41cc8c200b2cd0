package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// withKernels is the least that a config with kernels of both forms holds.
const withKernels = "version: 1\ntargets: {c: {}, cpp: {}, torch: {}, kernels: {}}\n"

func TestDescribedKernelsAreRead(t *testing.T) {
	cfg, found := decode(t, withKernels+`devices: {kDLAcme: {value: 1000, torch: PrivateUse1}}
kernels:
  scale:
    args:
      x: float32[m, n] strided inout
      by: float32[]
    devices: {kDLAcme: {}}
`, Choice{})
	require.Empty(t, found)
	require.Len(t, cfg.Contracts, 1)
	assert.Equal(t, "scale", cfg.Contracts[0].Name)
	assert.Equal(t, int64(1000), cfg.Contracts[0].Devices[0].Value)
}

func TestLinesOfKernelsHavePositions(t *testing.T) {
	_, found := decode(t, withKernels+"kernels: {f: {args: {x: 'float32[n'}}}\n", Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:3:33: error: this [ has no end [invalid-line]")
}

// Kernels and targets that make something of them come together.
func TestDescribedKernelsNeedATarget(t *testing.T) {
	_, found := decode(t, "version: 1\ntargets: {c: {}}\nkernels: {f: {args: {x: int}}}\n", Choice{})
	assert.Contains(t, found,
		"dlpackgen.yaml:3:10: error: no target of this config makes kernels that have args and returns")
	_, found = decode(t, "version: 1\ntargets: {c: {}, cpp: {}, torch: {}}\nkernels: {f: {args: {x: int}}}\n", Choice{})
	assert.Contains(t, found,
		"2:34: error: target torch includes headers of target kernels for kernels with args or returns [needs-target]")
	_, found = decode(t, withKernels, Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:2:47: warning: target kernels needs a kernel with args or returns")
	cfg, list := Default(spec.Embedded(), targets.Table(), Choice{})
	require.False(t, list.Failed())
	assert.NotContains(t, names(cfg.Selected), "kernels", "it is made on request alone")
}
