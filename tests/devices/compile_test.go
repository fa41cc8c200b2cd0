package devices

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func source(t *testing.T) string { return filepath.Join(cuda(t), "dlpackgen_cuda.c") }

// The backend in the strictest dialects, without warnings from any compiler and without a toolkit.
func TestSourcesCompileWithoutWarnings(t *testing.T) {
	if testing.Short() {
		t.Skip("runs eight compilers")
	}
	nightly := []string{"i686-w64-mingw32-gcc", "i686-linux-gnu-gcc", "aarch64-linux-gnu-gcc"}
	for _, c := range []struct {
		compiler, debian string
		flags            []string
	}{
		{"gcc", "gcc", []string{"-std=c11", "-O1", "-Wconversion", "-Wno-sign-conversion", "-Wcast-qual"}},
		{"gcc", "gcc", []string{"-std=c17", "-O2", "-flto"}},
		{"gcc", "gcc", []string{"-std=c2x"}},
		{"clang-16", "clang-16", []string{"-std=c11"}},
		{"x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", []string{"-std=c11"}},
		{"i686-w64-mingw32-gcc", "gcc-mingw-w64-i686", []string{"-std=c11"}},
		{"i686-linux-gnu-gcc", "gcc-i686-linux-gnu", []string{"-std=c11"}},
		{"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", []string{"-std=c11"}},
	} {
		t.Run(c.compiler+c.flags[0], func(t *testing.T) {
			if slices.Contains(nightly, c.compiler) || c.flags[0] == "-std=c2x" {
				tier.OnlyNightly(t)
			}
			compiler := testtool.Require(t, c.compiler, c.debian)
			flags := append([]string{"-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic", "-Werror"},
				c.flags...)
			for _, file := range slices.Concat([]string{source(t)}, rocmEnd.sources(t, rocm(t)),
				acmeEnd.sources(t, vendored(t, "testdata/acme.yaml", ""))) {
				testkit.Run(t, compiler, append(flags, "-c", "-o", filepath.Join(t.TempDir(), "x.o"), file)...)
			}
			testkit.Run(t, compiler,
				append(flags, "-c", "-o", filepath.Join(t.TempDir(), "x.o"),
					filepath.Join(cuda(t), "conformance/conformance.c"))...)
		})
	}
}

// The interface also works in C++, together with target c's header.
func TestTheHeadersInCxx(t *testing.T) {
	gxx, dir := testtool.Require(t, "g++", "g++"), t.TempDir()
	file := filepath.Join(dir, "x.cpp")
	text := "#include \"dlpackgen_cuda.h\"\n#include <dlpack/dlpack.h>\nint main() { return " +
		"dlpackgen_cuda()->probe(nullptr, nullptr) == DLPACKGEN_BACKEND_OK; }\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	testkit.Run(t, gxx, "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", cuda(t), "-I",
		filepath.Join(cuda(t), "../../gen/c"), file)
}
