package verify

// A mutant is one edit of a header and the codes of what it breaks.
type mutant struct {
	name          string
	pattern, with string
	codes         []string // distinct, in order
	cxx           bool     // compiled as C++ instead of C
	only          string   // the one release whose header has the place, or "" for both
}

// grown are the codes of a field that changes size and pushes others away.
var grown = []string{"verify-field-size", "verify-offset", "verify-size"}

func also(more []string, codes ...string) []string {
	return sorted(append(codes, more...))
}

var mutants = []mutant{
	{name: "bytes swapped", pattern: `uint8_t code;(.*?)uint8_t bits;`, with: "uint8_t bits;${1}uint8_t code;", codes: []string{"verify-offset"}},
	{name: "pointers swapped", pattern: `int64_t ?\* ?shape;(.*?)int64_t ?\* ?strides;`, with: "int64_t *strides;${1}int64_t *shape;", codes: []string{"verify-offset"}},
	{name: "wider field", pattern: `uint16_t lanes`, with: "uint32_t lanes", codes: also(grown, "verify-align", "verify-field-type")},
	{name: "narrower field", pattern: `int(32_t)? ndim`, with: "int16_t ndim", codes: []string{"verify-field-size", "verify-field-type", "verify-offset"}},
	{name: "other sign behind a pointer", pattern: `int64_t ?\* ?shape`, with: "uint64_t *shape", codes: []string{"verify-field-type"}},
	{name: "other sign", pattern: `uint8_t bits`, with: "int8_t bits", codes: []string{"verify-field-type"}},
	{name: "int for int32_t", pattern: `int32_t ndim`, with: "int ndim", codes: []string{"verify-field-type"}, only: "1.3"},
	{name: "int32_t for int", pattern: `int ndim`, with: "int32_t ndim", codes: []string{"verify-field-type"}, only: "0.6"},
	{name: "field dropped", pattern: `uint64_t byte_offset;`, with: "", codes: also(grown, "verify-field-missing")},
	{name: "field added", pattern: `(uint64_t byte_offset;)`, with: "$1 uint64_t more;", codes: also(grown, "verify-field-extra")},
	{name: "field renamed", pattern: `device_id;`, with: "id;", codes: []string{"verify-field-name"}},
	{name: "array for a pointer", pattern: `void ?\* ?data;`, with: "void *data[1];", codes: []string{"verify-field-type"}},
	{name: "bit-field", pattern: `uint8_t bits;`, with: "uint8_t bits : 4;", codes: []string{"verify-field-type"}},
	{name: "pointer to const", pattern: `int64_t ?\* ?shape`, with: "const int64_t *shape", codes: []string{"verify-field-type"}},
	{name: "const pointer", pattern: `int64_t ?\* ?shape`, with: "int64_t *const shape", codes: []string{"verify-field-type"}},
	{name: "volatile field", pattern: `uint64_t byte_offset`, with: "volatile uint64_t byte_offset", codes: []string{"verify-field-type"}},
	{name: "integer for a pointer", pattern: `void ?\* ?manager_ctx`, with: "uint64_t manager_ctx", codes: []string{"verify-field-type"}},
	{name: "packed struct", pattern: `\} DLTensor;`, with: "} __attribute__((packed)) DLTensor;", codes: []string{"verify-align"}},
	{name: "packed small struct", pattern: `\} DLDataType;`, with: "} __attribute__((packed)) DLDataType;", codes: []string{"verify-align"}},
	{name: "pragma pack", pattern: `^(.*)$`, with: "#pragma pack(push, 2)\n$1\n#pragma pack(pop)\n", codes: []string{"verify-align"}},
	{name: "pragma pack left open", pattern: `^(.*)$`, with: "#pragma pack(push, 4)\n$1", codes: []string{"verify-align", "verify-pack"}},
	{name: "over-aligned struct", pattern: `\} DLDevice;`, with: "} __attribute__((aligned(16))) DLDevice;", codes: also(grown, "verify-align")},
	{name: "union for a struct", pattern: `typedef struct (\{[^{}]*\} DLDataType;)`, with: "typedef union $1", codes: []string{"verify-field-size", "verify-kind"}},
	{name: "base of a struct", pattern: `typedef struct DLManagedTensor \{`, with: "struct Base { void *first; };\ntypedef struct DLManagedTensor : Base {", codes: []string{"verify-extra", "verify-field-extra", "verify-offset", "verify-size"}, cxx: true},
	{name: "virtual function", pattern: `typedef struct DLManagedTensor \{`, with: "typedef struct DLManagedTensor { virtual void f();", codes: []string{"verify-field-extra", "verify-offset", "verify-size"}, cxx: true},

	{name: "enumerator changed", pattern: `kDLMetal = 8`, with: "kDLMetal = 6", codes: []string{"verify-enum-value"}},
	{name: "enumerator dropped", pattern: `kDLVPI = 9,`, with: "", codes: []string{"verify-enum-missing"}},
	{name: "enumerator added", pattern: `kDLVPI = 9,`, with: "kDLVPI = 9, kDLMine = 99,", codes: []string{"verify-enum-extra"}},
	{name: "enumerator renamed", pattern: `kDLVPI = 9`, with: "kDLVerilog = 9", codes: []string{"verify-enum-name"}},
	{name: "enumerators reordered", pattern: `kDLMetal = 8,(.*?)kDLVPI = 9,`, with: "kDLVPI = 9,${1}kDLMetal = 8,", codes: []string{"verify-enum-order"}},
	{name: "type codes swapped", pattern: `kDLInt = 0U,(.*?)kDLUInt = 1U,`, with: "kDLInt = 1U,${1}kDLUInt = 0U,", codes: []string{"verify-enum-value"}},
	{name: "negative enumerator", pattern: `kDLVPI = 9,`, with: "kDLVPI = 9, kDLNone = -1,", codes: []string{"verify-enum-extra", "verify-enum-underlying"}},
	{name: "wide enumerator", pattern: `kDLVPI = 9,`, with: "kDLVPI = 9, kDLHuge = 0x100000000,", codes: also(grown, "verify-align", "verify-enum-extra", "verify-enum-width")},
	{name: "packed enum", pattern: `\} DLDeviceType;`, with: "} __attribute__((packed)) DLDeviceType;", codes: []string{"verify-enum-width", "verify-field-size"}},
	{name: "wider underlying type", pattern: `enum : int32_t`, with: "enum : int64_t", codes: also(grown, "verify-align", "verify-enum-underlying", "verify-enum-width"), cxx: true, only: "1.3"},
	{name: "unsigned underlying type", pattern: `enum : int32_t`, with: "enum : uint32_t", codes: []string{"verify-enum-underlying"}, cxx: true, only: "1.3"},
	{name: "underlying type dropped", pattern: `enum : int32_t`, with: "enum", codes: []string{"verify-enum-underlying"}, cxx: true, only: "1.3"},
	{name: "underlying type added", pattern: `typedef enum \{`, with: "typedef enum : int {", codes: []string{"verify-enum-underlying"}, cxx: true, only: "0.6"},
	{name: "scoped enum", pattern: `(typedef enum) (\{[^{}]*\} DLDataTypeCode;)`, with: "$1 class Code $2", codes: []string{"verify-enum-underlying", "verify-kind", "verify-tag"}, cxx: true},
	{name: "tagged enum", pattern: `(typedef enum) (\{[^{}]*\} DLDataTypeCode;)`, with: "$1 Code $2", codes: []string{"verify-tag"}},

	{name: "integer for an enum", pattern: `typedef enum \{[^{}]*\} DLDataTypeCode;`, with: "typedef int DLDataTypeCode;", codes: []string{"verify-kind"}},

	{name: "octal version", pattern: `DLPACK_VERSION 60`, with: "DLPACK_VERSION 060", codes: []string{"verify-macro"}, only: "0.6"},
	{name: "octal spelling of the same value", pattern: `DLPACK_VERSION 60`, with: "DLPACK_VERSION 074", codes: []string{"verify-macro"}, only: "0.6"},
	{name: "minor version changed", pattern: `DLPACK_MINOR_VERSION 3`, with: "DLPACK_MINOR_VERSION 4", codes: []string{"verify-macro"}, only: "1.3"},
	{name: "version that is no number", pattern: `(DLPACK_(MAJOR_)?VERSION) \d+`, with: `$1 "1.0"`, codes: []string{"verify-macro"}},
	{name: "version that is no number in C++", pattern: `(DLPACK_(MAJOR_)?VERSION) \d+`, with: `$1 1.0`, codes: []string{"verify-macro"}, cxx: true},
	{name: "version dropped", pattern: `#define (DLPACK_(MAJOR_)?VERSION) \d+`, with: "", codes: []string{"verify-missing"}},
	{name: "version undefined again", pattern: `(#define (DLPACK_(?:MAJOR_)?VERSION) \d+)`, with: "$1\n#undef $2", codes: []string{"verify-missing"}},
	{name: "flag of another bit", pattern: `\(1UL << 1UL\)`, with: "(1UL << 3UL)", codes: []string{"verify-macro"}, only: "1.3"},
	{name: "flag of another spelling", pattern: `\(1UL << 1UL\)`, with: "2", codes: []string{"verify-macro"}, only: "1.3"},
	{name: "flag dropped", pattern: `#define DLPACK_FLAG_BITMASK_READ_ONLY \(1UL << 0UL\)`, with: "", codes: []string{"verify-missing"}, only: "1.3"},
	{name: "macro added", pattern: `(#define DLPACK_DLL)\n`, with: "$1\n#define DLPACK_MINE 1\n", codes: []string{"verify-extra"}},
	{name: "linkage dropped", pattern: `#define DLPACK_EXTERN_C\n`, with: "", codes: []string{"verify-missing"}},
	{name: "linkage changed", pattern: `DLPACK_EXTERN_C extern "C"`, with: `DLPACK_EXTERN_C extern "C++"`, codes: []string{"verify-macro"}, cxx: true},

	{name: "deleter of anything", pattern: `\(struct DLManagedTensor ?\* ?self\)`, with: "(void *self)", codes: []string{"verify-field-type"}},
	{name: "deleter that returns", pattern: `void \(\*deleter\)`, with: "int (*deleter)", codes: []string{"verify-field-type"}},
	{name: "deleter without its argument", pattern: `\(struct DLManagedTensor ?\* ?self\)`, with: "(void)", codes: []string{"verify-field-type"}},
	{name: "deleter as a plain pointer", pattern: `void \(\*deleter\)\(struct DLManagedTensor ?\* ?self\)`, with: "void *deleter", codes: []string{"verify-field-type"}},
	{name: "deleter's argument renamed", pattern: `(struct DLManagedTensor ?\* ?)self`, with: "${1}tensor", codes: []string{"verify-param-name"}},
	{name: "parameter of another type", pattern: `int32_t device_id,`, with: "int64_t device_id,", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "parameter dropped", pattern: `int32_t device_id,`, with: "", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "parameter added", pattern: `int32_t device_id,`, with: "int32_t device_id, int flags,", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "other return type", pattern: `int \(\*DLPackCurrentWorkStream\)`, with: "void (*DLPackCurrentWorkStream)", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "const dropped in a parameter of a parameter", pattern: `const char ?\* ?kind`, with: "char *kind", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "one pointer less", pattern: `void ?\*\* ?out_py_object`, with: "void *out_py_object", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "parameter renamed", pattern: `void ?\* ?py_object,`, with: "void *object,", codes: []string{"verify-param-name"}, only: "1.3"},
	{name: "parameter without a name", pattern: `void ?\* ?py_object,`, with: "void *,", codes: []string{"verify-param-name"}, only: "1.3"},
	{name: "parameter of a parameter renamed", pattern: `const char ?\* ?kind`, with: "const char *type", codes: []string{"verify-param-name"}, only: "1.3"},
	{name: "callback as a plain pointer", pattern: `typedef int \(\*DLPackCurrentWorkStream\)\([^()]*\);`, with: "typedef void *DLPackCurrentWorkStream;", codes: []string{"verify-signature"}, only: "1.3"},
	{name: "callback renamed", pattern: `DLPackCurrentWorkStream\)(.*)DLPackCurrentWorkStream current`, with: "DLPackStream)${1}DLPackStream current", codes: []string{"verify-extra", "verify-field-type", "verify-missing"}, only: "1.3"},
	{name: "slot dropped", pattern: `DLPackManagedTensorToPyObjectNoSync managed_tensor_to_py_object_no_sync;`, with: "", codes: []string{"verify-field-missing", "verify-offset", "verify-size"}, only: "1.3"},
	{name: "slot added", pattern: `(DLPackCurrentWorkStream current_work_stream;)`, with: "void *event; $1", codes: []string{"verify-field-extra", "verify-offset", "verify-size"}, only: "1.3"},

	{name: "struct hidden by a macro", pattern: `(#endif[^\n]*\n)$`, with: "#define DLTensor struct Nothing\n$1", codes: []string{"verify-align"}},
	{name: "typedef name dropped", pattern: `typedef (struct DLManagedTensor \{.*?\}) DLManagedTensor;`, with: "$1;", codes: []string{"verify-typedef"}},
	{name: "typedef name renamed", pattern: `\} DLManagedTensor;`, with: "} DLManaged;", codes: []string{"verify-typedef"}, only: "0.6"},
	{name: "typedef name renamed", pattern: `\} DLPackExchangeAPI;`, with: "} DLPackAPI;", codes: []string{"verify-typedef"}, only: "1.3"},
	{name: "typedef name renamed in C++", pattern: `\} DLPackExchangeAPI;`, with: "} DLPackAPI;", codes: []string{"verify-typedef"}, cxx: true, only: "1.3"},
	{name: "typedef name of an enum renamed", pattern: `(typedef enum) (\{[^{}]*\}) DLDataTypeCode;`, with: "$1 DLDataTypeCode $2 DLCode;", codes: []string{"verify-typedef"}},
	{name: "another typedef name behind the struct", pattern: `typedef (struct DLPackExchangeAPI \{.*?\}) DLPackExchangeAPI;`, with: "$1; typedef struct DLPackExchangeAPI DLPackAPI;", codes: []string{"verify-extra", "verify-typedef"}, only: "1.3"},
	{name: "struct tag behind a typedef of its own", pattern: `\} DLPackExchangeAPI;`, with: "} DLPackAPI; typedef int DLPackExchangeAPI;", codes: []string{"verify-extra", "verify-kind"}, only: "1.3"},
	{name: "guard renamed", pattern: `DLPACK_DLPACK_H_(\s+)#define DLPACK_DLPACK_H_`, with: "MY_H${1}#define MY_H", codes: []string{"verify-guard"}},
	{name: "guard replaced by pragma once", pattern: `#ifndef DLPACK_DLPACK_H_\s+#define DLPACK_DLPACK_H_`, with: "#pragma once\n#if 1", codes: []string{"verify-guard"}},
	{name: "tag dropped", pattern: `typedef struct DLPackExchangeAPI \{`, with: "typedef struct {", codes: []string{"verify-tag"}, only: "1.3"},
	{name: "tag added", pattern: `typedef struct (\{[^{}]*\} DLDataType;)`, with: "typedef struct DLDataType_ $1", codes: []string{"verify-tag"}},
	{name: "struct renamed", pattern: `typedef struct DLManagedTensor (\{.*?)struct DLManagedTensor (.*?)\} DLManagedTensor;`, with: "typedef struct DLManaged ${1}struct DLManaged $2} DLManaged;", codes: []string{"verify-extra", "verify-missing"}},
	{name: "struct without a body", pattern: `typedef struct DLManagedTensor \{(.*?)\} DLManagedTensor;`, with: "typedef struct DLManagedTensor DLManagedTensor;", codes: []string{"verify-missing"}},
	{name: "struct without a body in C++", pattern: `typedef struct DLManagedTensor \{(.*?)\} DLManagedTensor;`, with: "typedef struct DLManagedTensor DLManagedTensor;", codes: []string{"verify-missing"}, cxx: true},
	{name: "struct in a namespace", pattern: `typedef struct DLManagedTensor \{(.*?)\} DLManagedTensor;`, with: "namespace mine { typedef struct DLManagedTensor {$1} DLManagedTensor; }", codes: []string{"verify-extra", "verify-missing"}, cxx: true},
	{name: "function added", pattern: `(\} DLDataType;)`, with: "$1 static inline int dlpack_bits(DLDataType t) { return t.bits; }", codes: []string{"verify-extra"}},
	{name: "variable added", pattern: `(\} DLDataType;)`, with: "$1 extern const DLDataType kDLDefault;", codes: []string{"verify-extra"}},
	{name: "typedef added", pattern: `(\} DLDataType;)`, with: "$1 typedef DLDataType DLType;", codes: []string{"verify-extra"}},
	{name: "nameless enum added", pattern: `(\} DLDataType;)`, with: "$1 enum { kDLMaxDim = 8 };", codes: []string{"verify-extra"}},
	{name: "own fixed-width types", pattern: `#include <stdint.h>`, with: "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned int uint32_t; typedef unsigned long int64_t; typedef unsigned long uint64_t;", codes: []string{"verify-builtin", "verify-extra"}},
	{name: "alias of another type", pattern: `typedef DLDevice DLContext;`, with: "typedef struct { int a; } DLContext;", codes: []string{"verify-kind"}, only: "0.4"},
	{name: "alias of an alias", pattern: `typedef DLDevice DLContext;`, with: "typedef DLDevice DLOther; typedef DLOther DLContext;", codes: []string{"verify-alias", "verify-extra"}, only: "0.4"},
	{name: "alias dropped", pattern: `typedef DLDevice DLContext;`, with: "", codes: []string{"verify-missing"}, only: "0.4"},
}
