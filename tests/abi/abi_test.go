// Package abi compares the spec and the layouts with facts that compilers measured on upstream's
// headers, and with the compilers themselves. It also contains the golden tables of every release.
package abi

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// target is a platform of the facts, and clang's flags for it.
type target struct {
	name   string
	triple string
	flags  []string
	model  layout.Model
}

var targets = []target{
	{"x86_64-linux-gnu", "x86_64-linux-gnu", nil, layout.LP64},
	{"x86_64-linux-gnux32", "x86_64-linux-gnux32", nil, layout.ILP32},
	{"i686-linux-gnu", "i686-linux-gnu", nil, layout.I386},
	{"aarch64-linux-gnu", "aarch64-linux-gnu", nil, layout.LP64},
	{"armv7-linux-gnueabihf", "armv7-linux-gnueabihf", nil, layout.ILP32},
	{"arm-none-eabi", "thumbv7em-none-eabihf", []string{"-fshort-enums"}, layout.ShortEnums},
	{"riscv64-linux-gnu", "riscv64-linux-gnu", nil, layout.LP64},
	{"ppc64le-linux-gnu", "powerpc64le-linux-gnu", nil, layout.LP64},
	{"s390x-linux-gnu", "s390x-linux-gnu", nil, layout.LP64},
	{"wasm32", "wasm32-unknown-unknown", nil, layout.ILP32},
	{"x86_64-windows-msvc", "x86_64-pc-windows-msvc", nil, layout.LLP64},
	{"i686-windows-msvc", "i686-pc-windows-msvc", nil, layout.Win32},
	{"arm64-apple-macos", "arm64-apple-macosx11.0", nil, layout.LP64},
}

func release(t *testing.T, version string) *spec.Release {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return r
}

func versions() []string {
	var out []string
	for _, info := range spec.Embedded().Releases() {
		out = append(out, info.Version)
	}
	return out
}

func TestEveryReleaseIsCovered(t *testing.T) {
	want := []string{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "1.0", "1.1", "1.2", "1.3", "main"}
	assert.Equal(t, want, versions())
}

// Every column of the golden tables corresponds to at least one real target.
func TestEveryModelHasATarget(t *testing.T) {
	for _, m := range layout.Models() {
		assert.True(t, slices.ContainsFunc(targets, func(x target) bool { return x.model == m }), m.Name)
	}
}
