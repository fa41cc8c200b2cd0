package c

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func renderRelease(t *testing.T, version string) (*spec.Release, []emit.File) {
	t.Helper()
	release, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	files, err := Target.Emit(&emit.Model{Release: release})
	require.NoError(t, err)
	return release, files
}

func names(files []emit.File) (out []string) {
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// Every release but the one in gen/c is a snapshot.
func TestSnapshots(t *testing.T) {
	var owned []string
	for _, info := range spec.Embedded().Releases() {
		if info.Version == spec.Embedded().Latest() {
			continue
		}
		_, files := renderRelease(t, info.Version)
		for _, f := range files {
			name := path.Join("out/c", info.Version, f.Path)
			golden.Assert(t, name, f.Data)
			owned = append(owned, name)
		}
	}
	golden.Orphans(t, "out/c", owned)
}

func TestGenHoldsTheNewestRelease(t *testing.T) {
	_, files := renderRelease(t, "latest")
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(golden.Root(t), "gen/c", filepath.FromSlash(f.Path)))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, string(f.Data), string(got), "gen/c/%s is out of date; run: make generate", f.Path)
	}
}

func TestOlderReleasesHaveNoHelpers(t *testing.T) {
	all := []string{"dlpack/abi_check.h", "dlpack/dlpack.h", "dlpack/dlpack_codes.h", "dlpack/dlpack_util.h"}
	for _, info := range spec.Embedded().Releases() {
		_, files := renderRelease(t, info.Version)
		want := all
		if spec.Embedded().Older(info.Version, "1.2") {
			want = all[:2]
		}
		assert.Equal(t, want, names(files), info.Version)
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	for _, info := range spec.Embedded().Releases() {
		_, files := renderRelease(t, info.Version)
		for _, f := range files {
			text := string(f.Data)
			assert.True(t, strings.HasPrefix(text, emit.Banner("/* ", " */", info.Version)), f.Path)
			assert.True(t, strings.HasSuffix(text, " */\n"), "%s ends with the guard and one line end", f.Path)
			assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|\t|<no value>|\{\{`, text, "%s of %s", f.Path, info.Version)
		}
	}
}

func TestSameModelSameBytes(t *testing.T) {
	_, first := renderRelease(t, "1.3")
	_, second := renderRelease(t, "1.3")
	assert.Equal(t, first, second)
}
