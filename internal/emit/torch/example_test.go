package torch_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// The config of examples/torch-op, which the example's own run builds, is valid.
func TestTheExampleHasItsKernels(t *testing.T) {
	dir := filepath.Join(golden.Root(t), "examples", "torch-op")
	src, err := os.ReadFile(filepath.Join(dir, config.File))
	require.NoError(t, err)
	cfg, found := config.Decode(config.File, src, spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg, diag.Text(found.Sorted(), false))
	require.Len(t, cfg.Selected, 2)
	release, err := spec.Embedded().Release(cfg.Selected[1].Release)
	require.NoError(t, err)
	files, err := cfg.Selected[1].Emit(&emit.Model{Release: release, Contracts: cfg.Contracts})
	require.NoError(t, err)
	i := slices.IndexFunc(files, func(f emit.File) bool { return path.Base(f.Path) == "described_kernels.cpp" })
	require.GreaterOrEqual(t, i, 0)
	for _, k := range cfg.Contracts {
		assert.Contains(t, string(files[i].Data), "::"+k.Name+"_>")
	}
}
