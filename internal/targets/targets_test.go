package targets

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/emit/project"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

func TestEachRowIsComplete(t *testing.T) {
	sp := spec.Embedded()
	for i, row := range All() {
		assert.NotEmpty(t, row.Name)
		assert.NotEmpty(t, row.Doc, row.Name)
		assert.NotNil(t, row.Emit, row.Name)
		assert.True(t, filepath.IsLocal(row.Path), row.Name)
		assert.Equal(t, i, slices.Index(Names(), row.Name), "each name once, in the order of the table")
		_, err := sp.Release(row.Oldest)
		assert.NoError(t, err, row.Name)
		keys := []string{"path", "dlpack"} // what every target has in the config
		for _, o := range row.Options {
			assert.NotContains(t, keys, o.Name, row.Name)
			assert.NotEmpty(t, o.Doc, o.Name)
			if o.Name == "import" {
				assert.Contains(t, o.Check("a b"), "not an import path", row.Name)
			}
			keys = append(keys, o.Name)
			if o.Check != nil && o.Default != "" {
				assert.Empty(t, o.Check(o.Default), "a default is valid")
			}
		}
	}
}

// TestEachRowServesItsReleases renders every release that a row supports: each file has the banner
// and the licence, and all runs render the same bytes.
func TestEachRowServesItsReleases(t *testing.T) {
	sp := spec.Embedded()
	for _, row := range All() {
		for _, info := range sp.Releases() {
			if sp.Older(info.Version, row.Oldest) {
				continue
			}
			release, err := sp.Release(info.Version)
			require.NoError(t, err)
			files, err := row.Emit(&emit.Model{Release: release})
			require.NoError(t, err, "%s %s", row.Name, info.Version)
			require.NotEmpty(t, files)
			for _, f := range files {
				assert.True(t, emit.HasBanner(f.Data), "%s %s", info.Version, f.Path)
				assertOutputLicense(t, f)
				assert.True(t, filepath.IsLocal(filepath.FromSlash(f.Path)), f.Path)
			}
			again, err := row.Emit(&emit.Model{Release: release})
			require.NoError(t, err)
			assert.Equal(t, files, again)
		}
	}
}

// Every source belongs to a target, and each backend's runtime has a manifest.
func TestEverySourceIsInAManifest(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	rows := append(All(), device.Vendor(&backend.Backend{Name: "acme", Implementation: backend.Custom,
		Devices: []backend.Device{{Type: "kDLExtDev"}}}))
	named := map[string]bool{emit.HostABI("tvm_ffi").From: true}
	for _, imports := range []map[string]string{nil, {emit.SharedDevice: "example.org/device"}} {
		for _, row := range rows {
			m := &emit.Model{Release: release, Import: "example.org/x", Imports: imports,
				Contracts: []contract.Kernel{oneContract()},
				Library:   emit.Library{Units: []string{"../kernels/kernels.c"}}}
			name(t, named, row, m)
			m.Options = map[string]string{row.Single: "true", "stubs": "true", "tests": "true", "package": "true"}
			name(t, named, row, m)
		}
	}
	for _, a := range project.Manifest("mylib", "").Assets {
		named[a.From] = true
	}
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			assert.True(t, named[name], "no manifest names templates/%s", name)
		}
		return err
	}))
}

func oneContract() contract.Kernel {
	return contract.Kernel{Name: "f", Serial: true, Error: "f_error",
		Args:    []contract.Param{{Name: "x", Var: contract.None}},
		Results: []contract.Param{{Name: "y", Var: contract.None, Types: []spec.DType{{Name: "float32"}}}},
		Devices: []contract.Device{{Name: "kDLCPU", Value: 1, Functions: []contract.Function{{Symbol: "f"}}},
			{Name: "kDLCUDA", Value: 2, Functions: []contract.Function{{Symbol: "f_cuda"}}}}}
}

// The C of each caller is compiled into the single library of kernels in Go.
func TestEveryCallerIsAUnitOfTheLibrary(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	for _, row := range All() {
		if !row.Contracts || row.Collects {
			continue
		}
		manifest, err := row.Manifest(&emit.Model{Release: release, Import: "example.org/x",
			Contracts: []contract.Kernel{oneContract()}})
		require.NoError(t, err)
		for _, a := range manifest.Assets {
			if base := path.Base(a.From); strings.HasPrefix(base, "kernels") && strings.HasSuffix(base, ".c.tmpl") {
				assert.True(t, a.Unit, "%s of target %s", a.To, row.Name)
			}
		}
	}
}

// name adds the sources of a target's manifest.
func name(t *testing.T, named map[string]bool, row emit.Target, m *emit.Model) {
	t.Helper()
	manifest, err := row.Manifest(m)
	require.NoError(t, err)
	for _, a := range manifest.Assets {
		named[a.From] = true
		for _, part := range a.Parts {
			named[part.From] = true
		}
	}
}

// assertOutputLicense requires the licence of output in the first lines of a file, and no other
// licence anywhere.
func assertOutputLicense(t *testing.T, f emit.File) {
	t.Helper()
	head := bytes.SplitN(f.Data, []byte("\n"), 3)
	assert.Contains(t, string(bytes.Join(head[:2], nil)), emit.LicenseTag, f.Path)
	assert.Equal(t, 1, strings.Count(string(f.Data), "SPDX-License-Identifier"), f.Path)
}

// Targets that a config describes emit starter files too, which have no banner.
func TestAVendorsTargetStatesTheLicenceOfOutput(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	vendor := &backend.Backend{Name: "acme", Title: "Acme", Implementation: backend.Custom, StatusType: "int",
		Devices: []backend.Device{{Type: "kDLExtDev", Value: backend.NoValue, Memory: "device", ID: "ordinal"}}}
	files, err := device.Vendor(vendor).Emit(&emit.Model{Release: release})
	require.NoError(t, err)
	var starters []string
	for _, f := range files {
		assertOutputLicense(t, f)
		if f.Once {
			starters = append(starters, f.Path)
		}
	}
	assert.ElementsMatch(t, []string{"acme_impl.c", "conformance/acme_hooks.h"}, starters)
}
