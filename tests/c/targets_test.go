package c

import (
	"path/filepath"
	"testing"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Debian's clang-16 checks for every target without the target's libraries.
var targets = []string{
	"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "armv7-linux-gnueabihf", "riscv64-linux-gnu",
	"powerpc64le-linux-gnu",
	"s390x-linux-gnu", "wasm32-unknown-unknown", "x86_64-windows-msvc", "i686-windows-msvc", "arm64-apple-macos",
}

// few returns the most different targets, because all of them would take too long.
func few(targets []string) []string {
	if testing.Short() {
		return []string{"x86_64-linux-gnu", "i686-linux-gnu", "x86_64-windows-msvc"}
	}
	return targets
}

// on returns the command that checks for a target in C11 or C++17.
func on(target, name string, flags ...string) []string {
	standard := map[string]string{"c": "c11", "c++": "c++17"}[name]
	bare := []string{"--target=" + target, "-ffreestanding"}
	if name == "c++" {
		bare = append(bare,
			"-nostdinc++") // the machine's library is for another target, and possibly for another clang
	}
	return append(command("clang-16", name, standard, bare...), flags...)
}

// One text, without #if for targets, is valid on all of them.
func TestChecksHoldOnEveryTarget(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir, chosen := headers(t, version), targets
			if version != "1.3" {
				chosen = few(targets)
			}
			for _, target := range chosen {
				assertCompiles(t, dir, include("dlpackgen/abi_check.h"), on(target, "c", strict...)...)
				assertCompiles(t, dir, include("dlpackgen/abi_check.h"), on(target, "c++", strict...)...)
			}
		})
	}
}

func TestHelpersCompileForEveryTarget(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	dir := headers(t, "1.3")
	for _, target := range few(targets) {
		assertCompiles(t, dir, include("dlpackgen/tensor.h"), on(target, "c", strict...)...)
		assertCompiles(t, dir, include("dlpackgen/tensor.h"),
			on(target, "c++", append(everything[:len(everything):len(everything)], "-Wno-c++98-compat",
				"-Wno-unsafe-buffer-usage")...)...)
	}
}

// GCC's layouts of the same structs.
func TestChecksHoldForCrossCompilers(t *testing.T) {
	for compiler, debian := range map[string]string{
		"aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "i686-linux-gnu-gcc": "gcc-i686-linux-gnu",
		"x86_64-w64-mingw32-gcc": "mingw-w64", "i686-w64-mingw32-gcc": "mingw-w64",
	} {
		t.Run(compiler, func(t *testing.T) {
			testtool.Require(t, compiler, debian)
			assertCompiles(t, headers(t, "1.3"), include("dlpackgen/abi_check.h", "dlpackgen/tensor.h"),
				command(compiler, "c", "c11", strict...)...)
		})
	}
}

// Bare-metal arm has short enums, and thus an incompatible DLDevice. Clang uses them only with a
// flag, arm-none-eabi-gcc by default.
func TestShortEnumsAreRejected(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	for _, version := range versions() {
		dir := headers(t, version)
		for _, name := range []string{"c", "c++"} {
			assertRejects(t, "enums are short: build with -fno-short-enums", dir, include("dlpackgen/abi_check.h"),
				on("arm-none-eabi", name, "-fshort-enums")...)
			assertCompiles(t, dir, include("dlpackgen/abi_check.h"), on("arm-none-eabi", name)...)
		}
	}
}

// Each guard of the probes, without other mistakes.
func TestProbesAreGuarded(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	dir := headers(t, "1.3")
	tests := []struct{ says, target, flag string }{
		{"pointers have neither 8 nor 4 bytes", "avr", "-fno-short-enums"},
		{"structs are packed", "x86_64-linux-gnu", "-fpack-struct=4"},
		{"64-bit integers are packed", "armv7-linux-gnueabihf", "-fpack-struct=2"},
		{"enums are short", "riscv64-linux-gnu", "-fshort-enums"},
	}
	for _, tt := range tests {
		assertRejects(t, tt.says, dir, include("dlpackgen/abi_check.h"), on(tt.target, "c", tt.flag)...)
		assertRejects(t, tt.says, dir, include("dlpackgen/abi_check.h"), on(tt.target, "c++", tt.flag)...)
	}
}

// The header documents what it cannot detect; this list keeps the documentation true.
func TestChangesThatTheABICheckCannotDetect(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	dir := headers(t, "1.3")
	for _, target := range []string{"armv7-linux-gnueabihf", "wasm32-unknown-unknown", "i686-windows-msvc"} {
		assertCompiles(t, dir, include("dlpackgen/abi_check.h"), on(target, "c", "-fpack-struct=4")...)
	}
	assertCompiles(t, dir, include("dlpackgen/abi_check.h"), on("i686-linux-gnu", "c", "-malign-double")...)
	mutation.OnceIn(t, filepath.Join(dir, "dlpack/dlpack.h"), "kDLTrn = 18", "kDLTrn = 18, kDLMore = 19")
	assertCompiles(t, dir, include("dlpackgen/abi_check.h"), c11...)
	mutation.OnceIn(t, filepath.Join(dir, "dlpack/dlpack.h"), "int32_t ndim", "uint32_t ndim")
	assertCompiles(t, dir, include("dlpackgen/abi_check.h"), c99...)
}
