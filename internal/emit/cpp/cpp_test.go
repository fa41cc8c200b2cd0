package cpp

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// served are the releases that the target supports.
func served() (versions []string) {
	for _, info := range spec.Embedded().Releases() {
		if !spec.Embedded().Older(info.Version, Target.Oldest) {
			versions = append(versions, info.Version)
		}
	}
	return versions
}

func emitted(t *testing.T, r *spec.Release) map[string]string {
	t.Helper()
	files, err := Target.Emit(&emit.Model{Release: r})
	return emittest.Texts(t, files, err)
}

// A snapshot contains the rendered files; the others differ only in the namespace.
func TestSnapshotsOfOtherReleases(t *testing.T) {
	var owned []string
	for _, version := range served() {
		if version == spec.Embedded().Latest() {
			continue
		}
		archive := &txtar.Archive{Comment: fmt.Appendf(nil, "Target cpp for DLPack %s.\n", version)}
		unfolded, m := emittest.Unfolded(Target), &emit.Model{Release: emittest.Release(t, version)}
		files, err := unfolded.Emit(m)
		headers, rendered := emittest.Texts(t, files, err), emittest.Rendered(t, unfolded, m)
		for _, name := range slices.Sorted(maps.Keys(rendered)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(headers[name])})
		}
		name := path.Join("out/cpp", version+".txtar")
		golden.Assert(t, name, txtar.Format(archive))
		owned = append(owned, name)
	}
	golden.Orphans(t, "out/cpp", owned)
}

func TestGenHoldsTheNewestRelease(t *testing.T) {
	for name, want := range emitted(t, emittest.Release(t, "latest")) {
		got, err := os.ReadFile(filepath.Join(golden.Root(t), "gen/cpp", filepath.FromSlash(name)))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, want, string(got), "gen/cpp/%s is out of date; run: make generate", name)
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	for _, version := range served() {
		for name, text := range emitted(t, emittest.Release(t, version)) {
			assert.True(t, strings.HasPrefix(text, emit.Banner(name, version)), name)
			guard := "DLPACKGEN_V" + strings.ToUpper(strings.ReplaceAll(version, ".", "_")) + "_"
			assert.Contains(t, text, "\n#ifndef "+guard, "%s has a guard of its release", name)
			assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|\t|<no value>|\{\{[.-]|v0_0|V0_0`, text, "%s of %s", name, version)
		}
	}
}

func TestSameModelSameBytes(t *testing.T) {
	assert.Equal(t, emitted(t, emittest.Release(t, "1.3")), emitted(t, emittest.Release(t, "1.3")))
}

// without returns a release without one enumerator.
func without(r *spec.Release, enum, value string) *spec.Release {
	changed := *r
	changed.Decls = slices.Clone(r.Decls)
	for i, d := range changed.Decls {
		if e, ok := d.(*spec.Enum); ok && e.Name == enum {
			shorter := *e
			shorter.Values = slices.DeleteFunc(slices.Clone(e.Values),
				func(v spec.EnumValue) bool { return v.Name == value })
			changed.Decls[i] = &shorter
		}
	}
	return &changed
}

func TestEmitNamesWhatASpecLacks(t *testing.T) {
	for _, name := range []string{"kDLInt", "kDLBool"} {
		_, err := Target.Emit(&emit.Model{Release: without(emittest.Release(t, "1.3"), codeEnum, name)})
		assert.ErrorContains(t, err,
			"the headers build on the enumerator DLDataTypeCode."+name+", which DLPack 1.3 of this spec lacks")
	}
	_, err := Target.Emit(&emit.Model{Release: without(emittest.Release(t, "1.3"), deviceEnum, "kDLTrn")})
	assert.NoError(t, err, "nothing names it")
	_, err = Target.Emit(&emit.Model{Release: without(emittest.Release(t, "1.3"), codeEnum, "kDLFloat8_e4m3fn")})
	assert.NoError(t, err, "nor this type, whose width is in the spec")
}

func TestKeywordsAreNoNames(t *testing.T) {
	assert.Equal(t, "bool_", identifier("bool"))
	assert.Equal(t, "float32", identifier("float32"))
}
