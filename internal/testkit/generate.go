package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// Generate writes the files of a config, with its described kernels, below a folder.
func Generate(t testing.TB, file, dir string) {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	cfg, found := config.Decode(file, src, spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg, diag.Text(found.Sorted(), false))
	for _, target := range cfg.Selected {
		release, err := spec.Embedded().Release(target.Release)
		require.NoError(t, err)
		files, err := target.Emit(&emit.Model{Release: release, Options: target.Options, Contracts: cfg.Contracts})
		require.NoError(t, err)
		write(t, filepath.Join(dir, target.Path), files)
	}
}
