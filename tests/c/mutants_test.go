package c

import (
	"path/filepath"
	"testing"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
)

// change is one mistake in dlpack.h 1.3, and abi_check.h's message about it.
type change struct {
	what     string
	old, new string
	says     string
}

// Every kind of change that all languages detect.
//
//mutants:in gen/c/dlpack/dlpack.h
var changes = []change{
	{"a version", "DLPACK_MAJOR_VERSION 1", "DLPACK_MAJOR_VERSION 2", "DLPACK_MAJOR_VERSION is not 1"},
	{"a flag's bit", "(1UL << 1UL)", "(1UL << 3UL)", "DLPACK_FLAG_BITMASK_IS_COPIED is not 2"},
	{"a device type", "kDLROCM = 10", "kDLROCM = 5", "kDLROCM is not 10"},
	{"a type code", "kDLBfloat = 4U", "kDLBfloat = 18U", "kDLBfloat is not 4"},
	{"an enum's width", "} DLDataTypeCode;", "} __attribute__((packed)) DLDataTypeCode;",
		"DLDataTypeCode is not of width 4"},
	{"a stricter alignment", "} DLTensor;", "} __attribute__((aligned(16))) DLTensor;", "DLTensor is not aligned to"},
	{"packed", "} DLTensor;", "} __attribute__((packed)) DLTensor;", "DLTensor is not aligned to"},
	{"packed to 4", "} DLManagedTensor;", "} __attribute__((packed, aligned(4))) DLManagedTensor;",
		"DLManagedTensor is not aligned to"},
	{"a wider field", "uint16_t lanes", "uint32_t lanes", "DLDataType.lanes is not of width 2"},
	{"a wider field over padding", "uint8_t bits;", "uint16_t bits;", "DLDataType.bits is not of width 1"},
	{"a narrower field", "uint64_t byte_offset", "uint32_t byte_offset", "DLTensor.byte_offset is not of width 8"},
	{"swapped fields of one type", "uint32_t major;", "uint32_t minor_;\n  uint32_t major;",
		"DLPackVersion.major is not at 0"},
	{"a field at the end", "uint64_t byte_offset;", "uint64_t byte_offset; void* more;", "DLTensor is not of size"},
	{"a dropped field", "uint64_t flags;", "", "flags"},
	{"a renamed field", "int64_t* strides;", "int64_t* stride;", "strides"},
	{"a dropped slot", "DLPackCurrentWorkStream current_work_stream;", "", "current_work_stream"},
}

// Changes without an effect on widths: C11 and C++11 detect them by comparing types.
var typeChanges = []change{
	{"a field's sign", "int32_t ndim", "uint32_t ndim", "DLTensor.ndim is not int32_t"},
	{"what a pointer points to", "int64_t* shape", "int32_t* shape", "DLTensor.shape is not int64_t*"},
	{"a pointer to constants", "int64_t* strides", "const int64_t* strides", "DLTensor.strides is not int64_t*"},
	{"a parameter", "void (*deleter)(struct DLManagedTensor* self)", "void (*deleter)(void* self)",
		"DLManagedTensor.deleter is not"},
	{"a callback's parameter", "DLDeviceType device_type, int32_t device_id",
		"DLDeviceType device_type, int64_t device_id",
		"DLPackCurrentWorkStream is not"},
	{"a callback's result", "typedef int (*DLPackDLTensorFromPyObjectNoSync)",
		"typedef void (*DLPackDLTensorFromPyObjectNoSync)",
		"DLPackDLTensorFromPyObjectNoSync is not"},
	{"a flag's type", "(1UL << 2UL)", "(1 << 2)", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED is not an unsigned long"},
}

// Changes to declarations that only C++ fixes.
var cxxChanges = []change{
	{"an enum's fixed width", "typedef enum : int32_t", "typedef enum : int64_t", "DLDeviceType is not of width 4"},
	{"an enum's fixed sign", "typedef enum : int32_t", "typedef enum : uint32_t",
		"DLDeviceType does not have the sign of int32_t"},
}

func rejectEach(t *testing.T, all []change, commands ...[]string) {
	t.Helper()
	for _, change := range all {
		t.Run(change.what, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, "1.3")
			mutation.OnceIn(t, filepath.Join(dir, "dlpack/dlpack.h"), change.old, change.new)
			for _, args := range commands {
				assertRejects(t, change.says, dir, include("dlpackgen/abi_check.h"), args...)
			}
		})
	}
}

func TestOneChangeIsEnough(t *testing.T) {
	rejectEach(t, changes, c11, cxx11)
	rejectEach(t, typeChanges, c11, cxx11)
	rejectEach(t, cxxChanges, cxx11)
}

// In C99, the message is about an array of negative size, at the line of the check.
func TestOneChangeIsEnoughInC99(t *testing.T) {
	for _, change := range changes {
		dir := headers(t, "1.3")
		mutation.OnceIn(t, filepath.Join(dir, "dlpack/dlpack.h"), change.old, change.new)
		assertRejects(t, "error: ", dir, include("dlpackgen/abi_check.h"), c99...)
	}
}

// Packing only the header to 2 on a 64-bit machine changes no offset and no size, only alignments.
func TestPackingTheHeaderIsRejected(t *testing.T) {
	dir := headers(t, "1.3")
	for _, pack := range []string{"1", "2", "4"} {
		source := "#pragma pack(push, " + pack + ")\n" + include("dlpack/dlpack.h") + "#pragma pack(pop)\n" +
			include("dlpackgen/abi_check.h")
		for _, args := range [][]string{c11, cxx11} {
			assertRejects(t, "DLTensor is not aligned to DLPACKGEN_ABI_I64", dir, source, args...)
		}
		assertRejects(t, "is negative", dir, source, c99...)
	}
}

func TestPackingTheWholeFileIsRejected(t *testing.T) {
	const says = "structs are packed: is a #pragma pack open?"
	dir := headers(t, "1.3")
	for _, args := range [][]string{c11, cxx11} {
		for _, pack := range []string{"1", "2", "4"} {
			assertRejects(t, says, dir, "#pragma pack("+pack+")\n"+include("dlpackgen/abi_check.h"), args...)
			assertRejects(t, says, dir, include("dlpackgen/abi_check.h"), append(args, "-fpack-struct="+pack)...)
		}
		assertRejects(t, says, dir, include("dlpackgen/abi_check.h"), append(args, "-fpack-struct")...)
		assertRejects(t, "enums are short: build with -fno-short-enums", dir, include("dlpackgen/abi_check.h"),
			append(args, "-fshort-enums")...)
	}
}

// Packing to 8 and more changes nothing.
func TestHarmlessPackingIsAccepted(t *testing.T) {
	dir := headers(t, "1.3")
	for _, args := range [][]string{c11, c99, cxx11} {
		assertCompiles(t, dir, "#pragma pack(8)\n"+include("dlpackgen/abi_check.h"), append(args, strict...)...)
	}
}
