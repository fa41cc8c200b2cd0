// Package emittest contains helpers for the tests of all targets: releases, and files by path.
package emittest

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Release returns a release of the built-in spec.
func Release(t *testing.T, version string) *spec.Release {
	t.Helper()
	release, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return release
}

// Described reads kernels in the form of the section `kernels:`.
func Described(t *testing.T, src string) (all []contract.Kernel) {
	t.Helper()
	diags := &diag.List{}
	root := yaml.Parse("k.yaml", []byte(src), diags)
	require.NotNil(t, root)
	scope := contract.Scope{DTypes: Release(t, "1.3").DTypes, MaxNDim: 64,
		Devices: map[string]int64{"kDLCPU": 1, "kDLCUDA": 2, "kDLROCM": 10, "kDLVulkan": 7, "kDLMAIA": 17}}
	for _, e := range root.Entries {
		all = append(all, contract.Read(e, scope, diags).Kernel)
	}
	require.Empty(t, diag.Text(diags.Sorted(), false))
	return all
}

// Emitted returns the files of a target for those kernels, by path. err names the unsupported
// kernels.
func Emitted(t *testing.T, target emit.Target, src string, options map[string]string) (map[string]string, error) {
	t.Helper()
	files, err := target.Emit(&emit.Model{Release: Release(t, "1.3"), Options: options, Contracts: Described(t, src)})
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = string(f.Data)
	}
	return all, err
}

// Unfolded returns a target that emits each part as a file.
func Unfolded(target emit.Target) emit.Target {
	whole := target.Manifest
	target.Manifest = func(m *emit.Model) (emit.Manifest, error) {
		made, err := whole(m)
		return made.Unfolded(), err
	}
	return target
}

// Rendered returns the paths of the rendered files, which golden files contain. Another test
// compares the copied files with their sources.
func Rendered(t *testing.T, target emit.Target, m *emit.Model) map[string]bool {
	t.Helper()
	manifest, err := target.Manifest(m)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, a := range manifest.Assets {
		if a.Rendered() {
			found[a.To] = true
		}
	}
	return found
}

// OfRelease returns the files of a target without options, by path.
func OfRelease(t *testing.T, target emit.Target, r *spec.Release) map[string]string {
	t.Helper()
	files, err := target.Emit(&emit.Model{Release: r})
	return Texts(t, files, err)
}

// Texts returns the files of a target by path. err is the target's error.
func Texts(t *testing.T, files []emit.File, err error) map[string]string {
	t.Helper()
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range files {
		require.NotContains(t, texts, f.Path, "made twice")
		texts[f.Path] = string(f.Data)
	}
	return texts
}

// Matches returns the matches of a regular expression in a file of templates, with their groups. A
// test compares a list that a source spells out with the list in Go. No match is an error.
func Matches(t *testing.T, file, form string) [][]string {
	t.Helper()
	text, err := templates.Text(file)
	require.NoError(t, err)
	found := regexp.MustCompile(form).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, found, "%s: %s", file, form)
	return found
}
