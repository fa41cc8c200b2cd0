package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribedKernelsAreRead(t *testing.T) {
	cfg, found := decode(t, withTorch+`devices: {kDLAcme: {value: 1000}}
kernels:
  square: {schema: "(Tensor x) -> Tensor", like: x}
  scale:
    args:
      x: float32[m, n] strided inout
      by: float32[]
    devices: {kDLAcme: {}}
`, Choice{})
	require.Empty(t, found)
	require.Len(t, cfg.Kernels, 1)
	require.Len(t, cfg.Contracts, 1)
	assert.Equal(t, "scale", cfg.Contracts[0].Name)
	assert.Equal(t, int64(1000), cfg.Contracts[0].Devices[0].Value)
}

func TestDescribedKernelsAreComparedWithSchemas(t *testing.T) {
	_, found := decode(t, withTorch+`kernels:
  square: {schema: "(Tensor(a!) x) -> ()"}
  scale: {args: {x: "float32[n] inout"}, symbol: square}
`, Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:5:3: error: square is the symbol of kernel square already [kernel-conflict]")
	_, found = decode(t, withTorch+"kernels: {f: {args: {x: 'float32[n'}}}\n", Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:3:33: error: this [ has no end [invalid-line]")
}
