package gobind

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// guardLine is one guard: a constant and its required number.
var guardLine = regexp.MustCompile(`(?m)^\t_ = x\[(.+)-(\d+)\]$`)

// guardFiles are the two files of guards, with the cgo setting that builds fastest. The guards of C
// need cgo.
var guardFiles = map[string]string{"guards.go": "CGO_ENABLED=0", "guards_cgo.go": "CGO_ENABLED=1"}

// guarding creates a module whose package dlpack contains the guards, and the parts of the bindings
// that they compare: cgo translates one file instead of 14.
func guarding(t *testing.T) module {
	t.Helper()
	all, m := bindings(t), newModule(t, "example.org/bindings")
	for _, name := range []string{"guards.go", "guards_cgo.go", "types.go", "constants.go", "dlpack.h"} {
		m.write(t, map[string]string{"dlpack/" + name: readFile(t, all, "dlpack/"+name)})
	}
	return m
}

func readFile(t *testing.T, m module, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

// brokenLines builds the bindings, and returns the lines of a file with an error.
func brokenLines(t *testing.T, m module, file string) []int {
	t.Helper()
	out, _ := m.run("build", "-gcflags=-e", "./dlpack")
	var lines []int
	for _, match := range regexp.MustCompile(`dlpack/`+regexp.QuoteMeta(file)+`:(\d+):`).FindAllStringSubmatch(out,
		-1) {
		line, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// guarded returns the line of each guard in a file.
func guarded(text string) (lines []int) {
	for i, line := range strings.Split(text, "\n") {
		if guardLine.MatchString(line) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// shift changes the numbers of the guards whose constant matches.
func shift(text string, by int, which *regexp.Regexp) string {
	return guardLine.ReplaceAllStringFunc(text, func(line string) string {
		part := guardLine.FindStringSubmatch(line)
		number, err := strconv.Atoi(part[2])
		if err != nil || !which.MatchString(part[1]) {
			return line
		}
		return "\t_ = x[" + part[1] + "-(" + strconv.Itoa(number+by) + ")]"
	})
}

// Each size, alignment, offset, width and value has a guard, in Go and in C.
func TestEveryNumberHasAGuard(t *testing.T) {
	m := bindings(t)
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	want := len(spec.Of[*spec.Macro](release)) + len(spec.Of[*spec.Flag](release))
	for _, s := range spec.Of[*spec.Struct](release) {
		want += 2 + 2*len(s.Fields)
	}
	for _, e := range spec.Of[*spec.Enum](release) {
		want += 1 + len(e.Values)
	}
	for file := range guardFiles {
		text := readFile(t, m, "dlpack/"+file)
		assert.Len(t, guarded(text), want, file)
		assert.Equal(t, want, strings.Count(text, "\t_ = "), "%s: a guard in another form", file)
		assert.Contains(t, text, "dlpackgen generate", "%s: the command to run again", file)
	}
}

// All numbers are changed at once, in both directions: each guard must fail.
func TestEveryGuardFires(t *testing.T) {
	skipShort(t)
	for file, cgo := range guardFiles {
		m := guarding(t).with(cgo)
		text := readFile(t, m, "dlpack/"+file)
		assert.Empty(t, brokenLines(t, m, file), "%s as it is", file)
		for _, by := range []int{1, -1} {
			m.write(t, map[string]string{"dlpack/" + file: shift(text, by, regexp.MustCompile(``))})
			assert.Equal(t, guarded(text), brokenLines(t, m, file), "%s, all numbers by %d", file, by)
		}
	}
}

// One guard of each kind is changed alone, and only that guard fails.
func TestOneGuardOfEachKindFiresAlone(t *testing.T) {
	skipShort(t)
	kinds := map[string][]string{
		"guards.go": {
			`^unsafe\.Sizeof\(DLTensor{}\)$`, `^unsafe\.Alignof\(Device{}\)$`,
			`^unsafe\.Offsetof\(DLTensor{}\.Shape\)$`,
			`^unsafe\.Sizeof\(DataType{}\.Lanes\)$`, `^unsafe\.Sizeof\(DeviceType\(0\)\)$`, `^DeviceCUDA$`,
			`^MinorVersion$`, `^FlagReadOnly$`,
		},
		"guards_cgo.go": {
			`_sizeof_DLTensor$`, `_alignof_DLDevice$`, `_offsetof_DLTensor_shape$`, `_widthof_DLDataType_lanes$`,
			`_sizeof_DLDeviceType$`, `^C\.kDLCUDA$`, `^C\.DLPACK_MINOR_VERSION$`, `^C\.DLPACK_FLAG_BITMASK_READ_ONLY$`,
		},
	}
	for file, patterns := range kinds {
		m := guarding(t).with(guardFiles[file])
		text := readFile(t, m, "dlpack/"+file)
		for i, pattern := range patterns {
			t.Run(file+"/"+pattern, func(t *testing.T) {
				if i > 0 {
					tier.OnlyNightly(t)
				}
				m.write(t, map[string]string{"dlpack/" + file: shift(text, 1, regexp.MustCompile(pattern))})
				assert.Len(t, brokenLines(t, m, file), 1)
			})
		}
	}
}

// A header of another release does not compile.
func TestAnotherHeaderIsRejected(t *testing.T) {
	skipShort(t)
	//mutants:in gen/go/dlpack/dlpack.h
	tests := map[string]struct{ old, replacement string }{
		"a wider field":           {"int32_t ndim;", "int64_t ndim;"},
		"a narrower field":        {"int32_t device_id;", "int16_t device_id;"},
		"one more field":          {"uint64_t byte_offset;", "uint64_t byte_offset; void* more;"},
		"a field in padding":      {"DLDataType dtype;", "DLDataType dtype; char more;"},
		"another order":           {"int64_t* shape;", "int64_t* strides_; int64_t* shape;"},
		"a packed struct":         {"} DLDevice;", "} __attribute__((packed)) DLDevice;"},
		"a stricter alignment":    {"} DLDevice;", "} __attribute__((aligned(8))) DLDevice;"},
		"an open pragma pack":     {"#include <stdint.h>", "#include <stdint.h>\n#pragma pack(push, 1)"},
		"an enum of one byte":     {"} DLDeviceType;", "} __attribute__((packed)) DLDeviceType;"},
		"another enumerator":      {"kDLCUDA = 2,", "kDLCUDA = 3,"},
		"a renamed enumerator":    {"kDLCUDA = 2,", "kDLGPU = 2,"},
		"another version":         {"#define DLPACK_MAJOR_VERSION 1", "#define DLPACK_MAJOR_VERSION 2"},
		"another bit":             {"(1UL << 0UL)", "(1UL << 3UL)"},
		"a field with a new name": {"int64_t* strides;", "int64_t* steps;"},
	}
	m := guarding(t)
	header := readFile(t, m, "dlpack/dlpack.h")
	kinds := []string{"a wider field", "a stricter alignment", "another enumerator", "another version",
		"a field with a new name"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(kinds, name) {
				tier.OnlyNightly(t)
			}
			m.write(t, map[string]string{"dlpack/dlpack.h": mutant.Once(t, header, test.old, test.replacement)})
			out, err := m.run("build", "./dlpack")
			require.Error(t, err)
			assert.Contains(t, out, "guards_cgo.go", out)
		})
	}
}

func TestCompilersToldToLayOutOtherwiseAreRejected(t *testing.T) {
	skipShort(t)
	m := guarding(t).with("CGO_CFLAGS_ALLOW=.*")
	for _, flag := range []string{"-fshort-enums", "-fpack-struct", "-fpack-struct=4", "-fpack-struct=2"} {
		t.Run(flag, func(t *testing.T) {
			if strings.Contains(flag, "=") {
				tier.OnlyNightly(t)
			}
			testkit.CgoFlags(t, filepath.Join(m.dir, "dlpack"), "dlpack", flag)
			out, err := m.run("build", "./dlpack")
			require.Error(t, err)
			assert.Contains(t, out, "guards_cgo.go", out)
		})
	}
	testkit.CgoFlags(t, filepath.Join(m.dir, "dlpack"), "dlpack", "-funsigned-char")
	m.mustRun(t, "build", "./dlpack")
}

// The Go side is compared with the same numbers, with and without cgo.
func TestAnotherMirrorIsRejected(t *testing.T) {
	skipShort(t)
	m := guarding(t).with("CGO_ENABLED=0")
	for name, test := range map[string]struct{ file, old, replacement string }{
		"a wider field":         {"types.go", "NDim int32", "NDim int64"},
		"a narrower field":      {"types.go", "Lanes uint16", "Lanes uint8"},
		"one more field":        {"types.go", "ByteOffset uint64", "ByteOffset uint64\n\tMore uintptr"},
		"another order":         {"types.go", "NDim int32", "First int32\n\tNDim int32"},
		"another width":         {"constants.go", "type DataTypeCode uint8", "type DataTypeCode uint16"},
		"another device number": {"constants.go", "DeviceCUDA DeviceType = 2", "DeviceCUDA DeviceType = 4"},
		"another version":       {"constants.go", "MajorVersion = 1", "MajorVersion = 2"},
		"another bit":           {"constants.go", "FlagReadOnly Flags = 1 << 0", "FlagReadOnly Flags = 1 << 5"},
	} {
		t.Run(name, func(t *testing.T) {
			text := readFile(t, m, "dlpack/"+test.file)
			m.write(t, map[string]string{"dlpack/" + test.file: mutant.Once(t, text, test.old, test.replacement)})
			out, err := m.run("build", "./dlpack")
			m.write(t, map[string]string{"dlpack/" + test.file: text})
			require.Error(t, err)
			assert.Contains(t, out, "guards.go", out)
		})
	}
}

// The structs that Go and C share for exports are equal in both languages.
func TestAnotherSlotIsRejected(t *testing.T) {
	skipShort(t)
	m := bindings(t)
	tests := map[string]struct{ header, old, replacement, rejects string }{
		"one more field":            {"export.h", "uint32_t number;", "uint32_t number; uint64_t more;", "slot{}"},
		"another order":             {"export.h", "uint32_t next; ", "uint32_t number_; uint32_t next;", "slot{}"},
		"more room":                 {"export.h", "int64_t dims[2 *", "int64_t dims[1 + 2 *", "slot{}"},
		"extra with another order":  {"export.h", "uintptr_t hook;", "uintptr_t more, hook;", "extra{}"},
		"a buffer with more":        {"buffer.h", "uint64_t shares;", "uint64_t shares, share;", "buffer{}"},
		"a buffer in another order": {"buffer.h", "uint32_t pool;", "uint32_t share; uint32_t pool;", "buffer{}"},
	}
	kinds := []string{"one more field", "extra with another order", "a buffer with more"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(kinds, name) {
				tier.OnlyNightly(t)
			}
			header := readFile(t, m, "dlpack/"+test.header)
			m.write(t, map[string]string{"dlpack/" + test.header: mutant.Once(t, header, test.old, test.replacement)})
			out, err := m.run("build", "./dlpack")
			m.write(t, map[string]string{"dlpack/" + test.header: header})
			require.Error(t, err)
			assert.Contains(t, rejectedBy(t, m, out), test.rejects, out)
		})
	}
}

// rejectedBy returns the assert of cgo.go that the compiler names first.
func rejectedBy(t *testing.T, m module, out string) string {
	t.Helper()
	at := regexp.MustCompile(`cgo\.go:(\d+):`).FindStringSubmatch(out)
	require.NotNil(t, at, out)
	line, err := strconv.Atoi(at[1])
	require.NoError(t, err)
	return strings.Split(readFile(t, m, "dlpack/cgo.go"), "\n")[line-1]
}
