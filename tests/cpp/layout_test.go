package cpp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// served are the releases that the headers support.
func served() (versions []string) {
	for _, info := range spec.Embedded().Releases() {
		if !spec.Embedded().Older(info.Version, cpp.Target.Oldest) {
			versions = append(versions, info.Version)
		}
	}
	return versions
}

const layoutHeader = "#include <dlpackgen/layout.hpp>\n"

var failedAssert = regexp.MustCompile(`error: static assertion failed: (.*)`)

// printed returns the distinct asserts that failed.
func printed(output string) map[string]bool {
	out := map[string]bool{}
	for _, m := range failedAssert.FindAllStringSubmatch(output, -1) {
		out[m[1]] = true
	}
	return out
}

// asserts counts the asserts of layout.hpp for a release, according to the spec; the four guards of
// the probes do not count.
func asserts(r *spec.Release) (all int) {
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Flag, *spec.Alias, *spec.Callback:
			all++
		case *spec.Enum:
			all += len([]string{"width"}) + len(d.Values)
			if d.CxxUnderlying != "" {
				all += len([]string{"made of"})
			}
		case *spec.Struct:
			all += len([]string{"alignment", "size", "kind"}) + len(d.Fields)*len([]string{"type", "width", "offset"})
		}
	}
	return all
}

// A header in which everything differs: each number, type, width, alignment, kind and offset. The
// version macros are unchanged, because base.hpp reads them.
func wrongHeader(r *spec.Release) string {
	var b strings.Builder
	b.WriteString("#define DLPACK_DLPACK_H_\n#define DLPACK_MAJOR_VERSION 1\n#define DLPACK_MINOR_VERSION " +
		"3\n#include <stdint.h>\n#include <stddef.h>\n")
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Flag:
			b.WriteString("#define " + d.Name + " 1024UL\n")
		case *spec.Enum:
			b.WriteString("typedef enum : uint64_t {\n")
			for _, v := range d.Values {
				b.WriteString("  " + v.Name + " = 4096 + __COUNTER__,\n")
			}
			b.WriteString("} " + d.Name + ";\n")
		case *spec.Struct:
			b.WriteString(wrongStruct(d))
		case *spec.Alias:
			b.WriteString("typedef char " + d.Name + ";\n")
		case *spec.Callback:
			b.WriteString("typedef int64_t (*" + d.Name + ")(char);\n")
		}
	}
	return b.String()
}

// wrongStruct moves each field, and swaps narrow and wide types; the reference makes the struct not
// trivial.
func wrongStruct(d *spec.Struct) string {
	text := "typedef struct " + d.Name + "_wrong {\n  uint8_t moved;\n"
	for _, f := range d.Fields {
		narrow := f.Type.Kind == spec.Builtin && (strings.HasSuffix(f.Type.Name, "8") || f.Type.Name == "uint16")
		kind := map[bool]string{true: "uint64_t", false: "char"}[narrow]
		text += "  " + kind + " " + f.Name + ";\n"
	}
	return text + "  " + d.Name + "_wrong(int) {}\n  char more[3];\n} " + d.Name + ";\n"
}

func TestEveryAssertFires(t *testing.T) {
	for _, version := range served() {
		t.Run(version, func(t *testing.T) {
			r := release(t, version)
			dir := headers(t, version)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "dlpack", "dlpack.h"), []byte(wrongHeader(r)), 0o600))
			out, err := compile(t, gcc, layoutHeader, "-I", dir)
			require.Error(t, err)
			assert.Len(t, printed(out), asserts(r), "%s", out)
		})
	}
}

var (
	assertLine = regexp.MustCompile(`(?m)^(static_assert\(.* == )(.*)(,\s+"[^"]*"\);)$`)
	probeLine  = regexp.MustCompile(`(?m)^static_assert\((?:pointer|offsetof\(PointerProbe|int64|sizeof\(EnumProbe).*$`)
)

// The inverse: the header is right, and each number of the asserts is off by one.
func TestEveryNumberCounts(t *testing.T) {
	for _, version := range served() {
		dir := headers(t, version)
		path := filepath.Join(dir, "dlpackgen", "layout.hpp")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Len(t, probeLine.FindAll(text, -1), 4)
		changed := 0
		off := assertLine.ReplaceAllFunc(text, func(line []byte) []byte {
			if probeLine.Match(line) {
				return line
			}
			changed++
			return assertLine.ReplaceAll(line, []byte("${1}1 + ${2}${3}"))
		})
		require.NoError(t, os.WriteFile(path, off, 0o600))
		out, err := compile(t, gcc, layoutHeader, "-I", dir)
		require.Error(t, err)
		assert.Len(t, printed(out), changed, version)
		assert.Greater(t, changed, 100)
	}
}

// Packing and short enums would deceive asserts without guards.
func TestProbesAreGuarded(t *testing.T) {
	dir := headers(t, "1.3")
	include := []string{"-I", dir}
	for _, pack := range []string{"1", "2", "4"} {
		assertRejects(t, "is a #pragma pack open?", gcc, "#pragma pack("+pack+")\n"+layoutHeader, include...)
		assertRejects(t, "is a #pragma pack open?", gcc, layoutHeader, append(include, "-fpack-struct="+pack)...)
	}
	assertRejects(t, "enums are short: build with -fno-short-enums", gcc, layoutHeader,
		append(include, "-fshort-enums")...)
	freestanding := []string{"-ffreestanding", "-nostdinc++", "-I", dir, "-I", "testdata/bare"}
	for _, guard := range []struct{ says, target, flag string }{
		{"pointers have neither 8 nor 4 bytes", "avr", "-fno-short-enums"},
		{"structs are packed", "x86_64-linux-gnu", "-fpack-struct=4"},
		{"64-bit integers are packed", "armv7-linux-gnueabihf", "-fpack-struct=2"},
		{"enums are short", "riscv64-linux-gnu", "-fshort-enums"},
	} {
		assertRejects(t, guard.says, clang, layoutHeader, append(freestanding, "--target="+guard.target, guard.flag)...)
	}
}

// One text, without #if for targets, is valid on all of them.
func TestTheLayoutHoldsOnEveryTarget(t *testing.T) {
	for _, version := range served() {
		if testing.Short() && version != "1.3" {
			continue
		}
		dir := headers(t, version)
		for _, target := range []string{
			"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "armv7-linux-gnueabihf", "riscv64-linux-gnu",
			"s390x-linux-gnu",
			"wasm32-unknown-unknown", "x86_64-windows-msvc", "i686-windows-msvc", "arm64-apple-macos",
		} {
			flags := append([]string{"--target=" + target, "-ffreestanding", "-nostdinc++", "-I", dir, "-I",
				"testdata/bare"}, strict...)
			assertCompiles(t, clang, layoutHeader, flags...)
		}
	}
}

// Every copy of dlpack.h has the same guard.
func TestTheHeaderThatCameFirstIsNamed(t *testing.T) {
	for version, says := range map[string]string{"0.8": "is 0.8 or older", "0.1": "is 0.8 or older", "1.0": "is 1.0",
		"1.1": "is 1.1"} {
		dir := t.TempDir()
		write(t, dir, c.Target, release(t, version))
		source := "#include \"" + filepath.Join(dir, "dlpack", "dlpack.h") + "\"\n#include <dlpackgen/core.hpp>\n"
		assertRejects(t, "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first "+says,
			gcc, source, gen(t)...)
	}
	next := "#include <dlpack/dlpack.h>\n#undef DLPACK_MAJOR_VERSION\n#define DLPACK_MAJOR_VERSION 2\n#include " +
		"<dlpackgen/core.hpp>\n"
	assertRejects(t, "has a different major version", gcc, next, gen(t)...)
	old := gcc
	old.standard = "c++14"
	assertRejects(t, "dlpackgen needs C++17", old, "#include <dlpackgen/core.hpp>\n", gen(t)...)
}
