package shm

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func rendered(t *testing.T, version string) []emit.File {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	const folder = "github.com/dlpackgen/dlpackgen/backends/"
	files, err := Target.Emit(&emit.Model{Release: r, Options: map[string]string{"import": folder + "shm"},
		Imports: map[string]string{emit.SharedDevice: folder + "device"}})
	require.NoError(t, err)
	return files
}

func TestBackendsHoldTheNewestRelease(t *testing.T) {
	for _, f := range rendered(t, "latest") {
		got, err := os.ReadFile(filepath.Join(golden.Root(t), "backends/shm", f.Path))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, string(f.Data), string(got), "backends/shm/%s is out of date; run: make generate", f.Path)
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	for _, f := range rendered(t, "1.2") {
		text := string(f.Data)
		assert.True(t, emit.HasBanner(f.Data), f.Path)
		if !strings.HasPrefix(f.Path, "python/") {
			assert.NotContains(t, text, "#include <dlpack", "%s finds its headers in its folder", f.Path)
		}
		assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|go:build ignore|dlpackgen_shm_entry`, text, f.Path)
		if filepath.Ext(f.Path) == ".go" {
			formatted, err := format.Source(f.Data)
			require.NoError(t, err, f.Path)
			assert.Equal(t, string(formatted), text, "gofmt has nothing to change")
		}
	}
}

// A user's spec may lack names that the sources use.
func TestSpecsWithoutTheUsualNames(t *testing.T) {
	_, err := Target.Emit(&emit.Model{Release: &spec.Release{Version: "1.3"},
		Options: map[string]string{"import": "a"}})
	assert.ErrorContains(t, err, "target shm builds on the enum DLDeviceType, which DLPack 1.3 of this spec lacks")
}
