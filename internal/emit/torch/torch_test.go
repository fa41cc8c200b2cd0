package torch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func TestGenHoldsTheNewestRelease(t *testing.T) {
	for name, text := range emittest.OfRelease(t, Target, emittest.Release(t, "latest")) {
		got, err := os.ReadFile(filepath.Join(golden.Root(t), "gen/cpp", name))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, text, string(got), "gen/cpp/%s is out of date; run: make generate", name)
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	for name, text := range emittest.OfRelease(t, Target, emittest.Release(t, "main")) {
		if name == folder+"dlpackgen_backend.h" {
			continue // the same as in the backends
		}
		gap := `\n\n\n`
		if strings.HasSuffix(name, ".py") {
			gap = `\n\n\n\n`
		}
		assert.True(t, strings.HasPrefix(text, emit.Banner(name, "main")), name)
		assert.NotRegexp(t, `(?m)[ \t]+$|\t|<no value>|\{\{[.a-z]|v0_0|V0_0|`+gap, text, name)
		if strings.HasSuffix(name, ".hpp") {
			assert.Contains(t, text, "\n#ifndef DLPACKGEN_VMAIN_PYTORCH_", "%s has a guard of its release", name)
		}
		for line := range strings.SplitSeq(text, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 125, "%s: %s", name, line)
		}
	}
}

// A user's spec may lack names that the copied files use.
func TestSpecsWithoutTheUsualNames(t *testing.T) {
	changed := *emittest.Release(t, "1.3")
	changed.Decls = slices.DeleteFunc(slices.Clone(changed.Decls),
		func(d spec.Decl) bool { return d.DeclName() == "DLPACK_FLAG_BITMASK_READ_ONLY" })
	_, err := Target.Emit(&emit.Model{Release: &changed})
	assert.ErrorContains(t, err,
		"the sources for torch build on the flag DLPACK_FLAG_BITMASK_READ_ONLY, which DLPack 1.3 of this spec lacks")
}

func TestSameModelSameBytes(t *testing.T) {
	rendered := func() map[string]string { return emittest.OfRelease(t, Target, emittest.Release(t, "1.3")) }
	assert.Equal(t, rendered(), rendered())
}
