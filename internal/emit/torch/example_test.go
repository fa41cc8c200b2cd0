package torch_test

import (
	"os"
	"path/filepath"
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

// What examples/torch-op holds is what its config asks for today.
func TestTheExampleIsUpToDate(t *testing.T) {
	dir := filepath.Join(golden.Root(t), "examples", "torch-op")
	src, err := os.ReadFile(filepath.Join(dir, config.File))
	require.NoError(t, err)
	cfg, found := config.Decode(config.File, src, spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg, diag.Text(found.Sorted(), false))
	require.Len(t, cfg.Selected, 1)
	release, err := spec.Embedded().Release(cfg.Selected[0].Release)
	require.NoError(t, err)
	files, err := cfg.Selected[0].Emit(&emit.Model{Release: release, Kernels: cfg.Kernels})
	require.NoError(t, err)
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, cfg.Selected[0].Path, filepath.FromSlash(f.Path)))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, string(f.Data), string(got), "%s is out of date; run: make generate", f.Path)
	}
}
