package verify

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

var compilers = []struct{ program, lang, debian string }{
	{"gcc", "c", "gcc"},
	{"g++", "c++", "g++"},
	{"clang-16", "c", "clang-16"},
	{"clang++-16", "c++", "clang-16"},
	{"aarch64-linux-gnu-gcc", "c", "gcc-aarch64-linux-gnu"},
	{"i686-linux-gnu-gcc", "c", "gcc-i686-linux-gnu"},
	{"x86_64-w64-mingw32-gcc", "c", "mingw-w64"},
	{"x86_64-w64-mingw32-g++", "c++", "mingw-w64"},
}

// Published headers match, and their release is identified.
func TestRealHeadersFit(t *testing.T) {
	t.Parallel()
	for _, header := range []struct {
		name, release, install string
		path                   func(*testing.T) string
	}{
		{"libdlpack-dev", "0.6", "apt-get install libdlpack-dev", findDebian},
		{"apache-tvm-ffi", "1.3", "tools/setup.sh, or set DLPACKGEN_TVM_FFI_HEADER", findTVMFFI},
	} {
		for _, cc := range compilers {
			t.Run(header.name+" "+cc.program, func(t *testing.T) {
				t.Parallel()
				testtool.Require(t, cc.program, cc.debian)
				path := header.path(t)
				if path == "" {
					t.Skipf("needs the dlpack.h of %s: %s", header.name, header.install)
				}
				got := run(t, verify.Request{Header: path, CC: cc.program})
				assert.Empty(t, got.Diags)
				assert.Equal(t, []string{header.release}, got.Fits)
				assert.Equal(t, header.release, got.Release)
				assert.Equal(t, map[string]string{"c": "C", "c++": "C++"}[cc.lang], got.Lang)
			})
		}
	}
}

type target struct {
	name, model string
	flags       []string
}

// The targets of the ABI tables, with the data model that verify must find.
var targets = []target{
	{"x86_64-linux-gnu", "lp64", nil},
	{"x86_64-linux-gnux32", "ilp32", nil},
	{"i686-linux-gnu", "i386", nil},
	{"aarch64-linux-gnu", "lp64", nil},
	{"armv7-linux-gnueabihf", "ilp32", nil},
	{"arm-none-eabi", "short-enums", []string{"-fshort-enums"}},
	{"riscv64-linux-gnu", "lp64", nil},
	{"ppc64le-linux-gnu", "lp64", nil},
	{"s390x-linux-gnu", "lp64", nil},
	{"wasm32", "ilp32", nil},
	{"x86_64-windows-msvc", "llp64", nil},
	{"i686-windows-msvc", "ilp32", nil},
	{"arm64-apple-macos", "lp64", nil},
}

// targetsOf are all targets for the newest release, and two with different data models for the
// others. Make nightly uses all targets for all releases.
func targetsOf(version string) []target {
	if tier.IsNightly() || version == dlpack.Latest() {
		return targets
	}
	return []target{targets[0], targets[2]}
}

// Our own header of every release matches on every target, in C and in C++.
func TestOurHeadersFitOnEveryTarget(t *testing.T) {
	t.Parallel()
	testtool.Require(t, "clang-16", "clang-16")
	for _, info := range dlpack.Releases() {
		if testing.Short() && info.Version != dlpack.Latest() {
			continue
		}
		header := ours(t, info.Version)
		t.Run(info.Version, func(t *testing.T) {
			t.Parallel()
			for _, target := range targetsOf(info.Version) {
				for _, lang := range []string{"c", "c++"} {
					flags := append([]string{"--target=" + target.name, "-ffreestanding"}, target.flags...)
					got := run(t, verify.Request{Header: header, CC: "clang-16", Lang: lang, Flags: flags})
					where := target.name + " " + lang
					assert.Equal(t, target.model, got.Model, where)
					assert.Equal(t, info.Version, got.Release, where)
					assert.Equal(t, []string{info.Version}, got.Fits, where)
					assert.Empty(t, codes(got, "verify-short-enums"), where)
				}
			}
		})
	}
}
