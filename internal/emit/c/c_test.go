package c

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
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

// The enums that releases extend.
const (
	deviceEnum = "DLDeviceType"
	codeEnum   = "DLDataTypeCode"
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

// Every release except the one in gen/c has a snapshot of the rendered files, each part as a file.
func TestSnapshots(t *testing.T) {
	var owned []string
	for _, info := range spec.Embedded().Releases() {
		if info.Version == spec.Embedded().Latest() {
			continue
		}
		release, err := spec.Embedded().Release(info.Version)
		require.NoError(t, err)
		unfolded := emittest.Unfolded(Target)
		rendered := emittest.Rendered(t, unfolded, &emit.Model{Release: release})
		files, err := unfolded.Emit(&emit.Model{Release: release})
		require.NoError(t, err)
		for _, f := range files {
			if !rendered[f.Path] {
				continue
			}
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
	all := []string{
		"dlpackgen/abi_check.h", "dlpack/dlpack.h", "dlpackgen/codes.h", "dlpackgen/rules.h",
		"dlpackgen/tensor.h", "dlpackgen/message.h", "dlpackgen/scalar.h", "dlpackgen/parameter.h",
		"dlpackgen/checker.h",
	}
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
			assert.True(t, strings.HasPrefix(text, emit.Banner(f.Path, info.Version)), f.Path)
			assert.True(t, strings.HasSuffix(text, " */\n"), "%s ends with the guard and one line end", f.Path)
			assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|\t|<no value>|\{\{`, text, "%s of %s", f.Path, info.Version)
		}
	}
}

// Additions of a release get names without changes here.
func TestNamesFollowTheRelease(t *testing.T) {
	named := func(version string) string {
		_, files := renderRelease(t, version)
		i := slices.IndexFunc(files, func(f emit.File) bool { return f.Path == "dlpackgen/parameter.h" })
		require.GreaterOrEqual(t, i, 0)
		return string(files[i].Data)
	}
	before, now := named("1.3"), named("main")
	for _, line := range []string{
		"#define DLPACKGEN_DTYPE_BCOMPLEX32 DLPACKGEN_DTYPE(kDLBcomplex, 32, 1)\n",
		"case kDLAscend: return \"ascend\";\n",
	} {
		assert.NotContains(t, before, line)
		assert.Contains(t, now, line)
	}
}

func TestSameModelSameBytes(t *testing.T) {
	_, first := renderRelease(t, "1.3")
	_, second := renderRelease(t, "1.3")
	assert.Equal(t, first, second)
}

// extended is 1.3 with a vendor's device type.
func extended(t *testing.T, device spec.EnumValue) *spec.Release {
	t.Helper()
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	changed := *release
	changed.Decls = slices.Clone(release.Decls)
	for i, d := range changed.Decls {
		if e, ok := d.(*spec.Enum); ok && e.Name == deviceEnum {
			longer := *e
			longer.Values = append(slices.Clone(e.Values), device)
			changed.Decls[i] = &longer
		}
	}
	return &changed
}

func TestVendorsDevicesAreInEveryFile(t *testing.T) {
	device := spec.EnumValue{Name: "kDLAcme", Value: 1000, Doc: "Acme memory.",
		Device: &spec.DeviceRule{HostReadable: true}}
	files, err := Target.Emit(&emit.Model{Release: extended(t, device)})
	require.NoError(t, err)
	for i, want := range []string{"DLPACKGEN_ABI_NUMBER(kDLAcme, 1000);", "/** Acme memory. */\n  kDLAcme = 1000\n}",
		"case kDLAcme: return"} {
		assert.Contains(t, string(files[i].Data), want, files[i].Path)
	}
	assert.Equal(t, 3, strings.Count(string(files[2].Data), "case kDLAcme:"), "named, readable, addressed")
}

// A user's spec may lack names that the helpers use.
func TestSpecsWithoutTheUsualTypes(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	for _, missing := range []string{deviceEnum, codeEnum, "DLPackExchangeAPI"} {
		changed := *release
		changed.Decls = slices.DeleteFunc(slices.Clone(release.Decls),
			func(d spec.Decl) bool { return d.DeclName() == missing })
		files, err := Target.Emit(&emit.Model{Release: &changed})
		require.NoError(t, err)
		assert.Equal(t, []string{"dlpackgen/abi_check.h", "dlpack/dlpack.h"}, names(files), missing)
	}
	files, err := Target.Emit(&emit.Model{Release: extended(t, spec.EnumValue{Name: "kDLBare", Value: 7})})
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(files[2].Data), "case kDLBare:"), "without a rule it is only named")
}

// Numbers follow from formulas: the conditions in abi_check.h concern only the language, never a
// platform.
func TestChecksHaveNoConditionOnTargets(t *testing.T) {
	condition := regexp.MustCompile(`(?m)^#\s*(?:if|elif)(.*)$`)
	language := regexp.MustCompile(`^(?:[\s!&|()]|ndef ` +
		`DLPACKGEN_ABI_CHECK_H_|def|defined|DLPACK_(?:MAJOR_|MINOR_|ABI_)?VERSION|!= \d+|__cplusplus|_MSVC_LANG|__STDC_VERSION__|>=|201112L|201103L)*$`)
	for _, info := range spec.Embedded().Releases() {
		_, files := renderRelease(t, info.Version)
		found := condition.FindAllStringSubmatch(string(files[0].Data), -1)
		require.NotEmpty(t, found)
		for _, m := range found {
			assert.Regexp(t, language, m[1], info.Version)
		}
	}
}
