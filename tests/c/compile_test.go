package c

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/header"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// language is a compiler with its tested standards.
type language struct {
	compiler  string
	debian    string
	name      string
	standards []string
}

var languages = []language{
	{"gcc", "gcc", "c", []string{"c99", "c11", "c17", "c2x"}},
	{"g++", "g++", "c++", []string{"c++11", "c++14", "c++17", "c++20", "c++23"}},
	{"clang-16", "clang-16", "c", []string{"c99", "c11", "c17", "c2x"}},
	{"clang++-16", "clang-16", "c++", []string{"c++11", "c++14", "c++17", "c++20", "c++2b"}},
}

// tried are the oldest and the newest standard, or all of them in make nightly.
func (l language) tried() []string {
	if tier.IsNightly() {
		return l.standards
	}
	return []string{l.standards[0], l.standards[len(l.standards)-1]}
}

// emitted writes the headers to a folder, under their include paths.
func emitted(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*.h"))
	require.NoError(t, err)
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
	}
	return names
}

func TestEachHeaderCompilesAlone(t *testing.T) {
	for _, l := range languages {
		t.Run(l.compiler, func(t *testing.T) {
			testtool.Require(t, l.compiler, l.debian)
			t.Parallel()
			for _, version := range []string{"1.3", "main"} {
				if testing.Short() && version != "1.3" {
					break
				}
				dir := headers(t, version)
				for _, name := range emitted(t, dir) {
					for _, standard := range l.tried() {
						assertCompiles(t, dir, include(name), command(l.compiler, l.name, standard, strict...)...)
					}
				}
			}
		})
	}
}

// Disabled in addition to -Wpadded: C++98 cannot fix the type of an enum, as DLPack does from 0.7
// on, and a shape is a pointer that must be indexed.
func TestClangCompilesWithoutWarnings(t *testing.T) {
	testtool.Require(t, "clang-16", "clang-16")
	for _, l := range languages[2:] {
		t.Run(l.compiler, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, "1.3")
			for _, name := range append([]string{header.Checks}, header.Helpers...) {
				flags := slices.Clone(everything)
				if l.name == "c++" {
					flags = append(flags, "-Wno-c++98-compat")
				}
				if strings.HasPrefix(name, "dlpackgen/") {
					flags = append(flags, "-Wno-unsafe-buffer-usage")
				}
				for _, standard := range l.tried() {
					assertCompiles(t, dir, include(name), command(l.compiler, l.name, standard, flags...)...)
				}
			}
		})
	}
}

// Upstream's headers are C89 except for a comma after the last enumerator; up to 0.6, they are also
// C++98. Ours conform to both, without that comma.
func TestEveryReleaseCompilesInTheOldestLanguages(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, version)
			source := include("dlpack/dlpack.h", "dlpackgen/abi_check.h")
			assertCompiles(t, dir, source, command("gcc", "c", "c89", strict...)...)
			assertCompiles(t, dir, source, command("gcc", "c", "c11", strict...)...)
			assertCompiles(t, dir, source, command("g++", "c++", "c++11", strict...)...)
			if spec.Embedded().Older(version, "0.7") {
				assertCompiles(t, dir, source, command("g++", "c++", "c++98", "-Wall", "-Wextra", "-Werror")...)
			}
		})
	}
}

// Warnings of the optimizer and the analyzer require code generation.
func TestHelpersCompileOptimised(t *testing.T) {
	dir := headers(t, "1.3")
	for _, l := range languages[:2] {
		args := append(command(l.compiler, l.name, l.standards[0], strict...), "-O2", "-Wconversion", "-Wshadow",
			"-Wcast-qual", "-Wold-style-cast")
		if l.name == "c" {
			args = append(args[:len(args)-1], "-Wc++-compat", "-Wstrict-prototypes", "-Wdeclaration-after-statement")
		}
		assertCompiles(t, dir, include("dlpackgen/tensor.h", "dlpackgen/abi_check.h"), args...)
	}
}

// Another copy of dlpack.h may be included first, because all have the same guard.
func TestHelpersNameTheOlderHeaderThatCameFirst(t *testing.T) {
	new := headers(t, "1.3")
	tests := map[string]string{
		"0.1": "is 0.5 or older", "0.5": "is 0.5 or older", "0.6": "is 0.6", "0.7": "is 0.7", "0.8": "is 0.8",
		"1.0": "is 1.0", "1.1": "is 1.1",
	}
	for version, reason := range tests {
		first := filepath.Join(headers(t, version), "dlpack/dlpack.h")
		source := "#include \"" + first + "\"\n" + include("dlpackgen/tensor.h")
		assertRejects(t, "needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first "+reason, new,
			source, command("gcc", "c", "c11")...)
	}
	first := filepath.Join(new, "dlpack/dlpack.h")
	next := "#include \"" + first + "\"\n#undef DLPACK_MAJOR_VERSION\n#define DLPACK_MAJOR_VERSION 2\n" +
		include("dlpackgen/tensor.h")
	assertRejects(t, "has a different major version", new, next, command("gcc", "c", "c11")...)
}

// A header of 1.2 suffices for the helpers of 1.3.
func TestHelpersAcceptAnOlderHeaderWithAllTheyNeed(t *testing.T) {
	first := filepath.Join(headers(t, "1.2"), "dlpack/dlpack.h")
	assertCompiles(t, headers(t, "1.3"), "#include \""+first+"\"\n"+include("dlpackgen/tensor.h"),
		command("gcc", "c", "c99", strict...)...)
}

// The committed files for vendoring are the tested ones.
func TestGenCompiles(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "g++", "g++")
	dir := filepath.Join("..", "..", "gen", "c")
	_, err := os.Stat(dir)
	require.NoError(t, err)
	assertCompiles(t, dir, include("dlpackgen/abi_check.h", "dlpackgen/tensor.h"),
		command("gcc", "c", "c11", strict...)...)
	assertCompiles(t, dir, include("dlpackgen/abi_check.h", "dlpackgen/tensor.h"),
		command("g++", "c++", "c++17", strict...)...)
}
