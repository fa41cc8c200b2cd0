package verify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

type convention struct {
	name, cc, debian string
	flags            []string
	other, same      []string
}

// conventions are attributes that change the calling convention, and attributes that do not.
var conventions = []convention{
	{name: "gcc for i386", cc: "i686-linux-gnu-gcc", debian: "gcc-i686-linux-gnu",
		other: []string{"stdcall", "fastcall", "thiscall", "regparm(3)", "sseregparm"}, same: []string{"cdecl"}},
	{name: "clang for i386", cc: "clang-16", debian: "clang-16",
		flags: []string{"--target=i686-linux-gnu", "-ffreestanding"},
		other: []string{"stdcall", "fastcall", "thiscall", "vectorcall", "regparm(3)"},
		same:  []string{"cdecl", "sseregparm"}},
	{name: "clang for i386 in C++", cc: "clang++-16", debian: "clang-16",
		flags: []string{"--target=i686-linux-gnu", "-ffreestanding"},
		other: []string{"stdcall", "fastcall", "thiscall", "vectorcall", "regparm(3)"}, same: []string{"cdecl"}},
	{name: "gcc for x86-64", cc: "gcc", debian: "gcc", other: []string{"ms_abi"}, same: []string{"sysv_abi", "cdecl"}},
	{name: "gcc for x86-64 in C89", cc: "gcc", debian: "gcc", flags: []string{"-std=c89"}, other: []string{"ms_abi"}},
	{name: "g++ for x86-64", cc: "g++", debian: "g++", other: []string{"ms_abi"}, same: []string{"sysv_abi"}},
	{name: "clang for x86-64", cc: "clang-16", debian: "clang-16",
		other: []string{"ms_abi", "vectorcall", "preserve_all", "regcall"}, same: []string{"sysv_abi"}},
	{name: "clang++ for x86-64", cc: "clang++-16", debian: "clang-16", other: []string{"ms_abi", "vectorcall"},
		same: []string{"sysv_abi"}},
	{name: "gcc for 64-bit Windows", cc: "x86_64-w64-mingw32-gcc", debian: "mingw-w64", other: []string{"sysv_abi"},
		same: []string{"ms_abi", "stdcall"}},
	{name: "clang for 64-bit Windows", cc: "clang-16", debian: "clang-16",
		flags: []string{"--target=x86_64-windows-msvc", "-ffreestanding"},
		other: []string{"sysv_abi", "vectorcall"}, same: []string{"ms_abi"}},
	{name: "gcc for AArch64", cc: "aarch64-linux-gnu-gcc", debian: "gcc-aarch64-linux-gnu",
		other: []string{"aarch64_vector_pcs"}},
}

// isHost reports whether this compiler's programs run here.
func (c convention) isHost() bool {
	return strings.HasSuffix(c.name, " for x86-64")
}

// deleters are the positions of function pointers in a header, and their names in findings.
var deleters = map[string]mutant{
	"DLManagedTensor.deleter":               {pattern: `(\()(\*deleter\)\(struct DLManagedTensor ?\*)`},
	"DLManagedTensorVersioned.deleter":      {pattern: `(\()(\*deleter\)\(struct DLManagedTensorVersioned ?\*)`},
	"DLPackManagedTensorFromPyObjectNoSync": {pattern: `(\()(\*DLPackManagedTensorFromPyObjectNoSync\))`},
	"DLPackManagedTensorAllocator":          {pattern: `(\()(\*SetError\))`}, // its parameter
}

// A function pointer with another calling convention is another type, independently of debug
// information.
func TestCallingConventions(t *testing.T) {
	t.Parallel()
	header := ours(t, "1.3")
	for _, c := range conventions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testtool.Require(t, c.cc, c.debian)
			for where, place := range deleters {
				if where != "DLManagedTensor.deleter" && !tier.IsNightly() && (testing.Short() || !c.isHost()) {
					continue
				}
				for _, attribute := range c.other {
					got := withAttribute(t, header, place, attribute, verify.Request{CC: c.cc, Flags: c.flags})
					require.Equal(t, []string{"verify-convention"}, codes(got), "%s %s: %v", where, attribute,
						got.Diags)
					require.Len(t, got.Diags, 1, "%s: %v", attribute, got.Diags)
					assert.Contains(t, got.Diags[0].Text, "calling convention of "+where+" is not the default")
				}
				for _, attribute := range c.same {
					got := withAttribute(t, header, place, attribute, verify.Request{CC: c.cc, Flags: c.flags})
					assert.Empty(t, got.Diags, "%s %s", where, attribute)
				}
			}
		})
	}
}

func withAttribute(t *testing.T, header string, place mutant, attribute string, req verify.Request) *verify.Result {
	t.Helper()
	place.with = "${1}__attribute__((" + attribute + ")) $2"
	req.Header, req.Release = put(t, mutate(t, read(t, header), place)), "1.3"
	return run(t, req)
}

// Members that look right in debug information but are read and written differently.
func TestMembersThatOnlyLookAlike(t *testing.T) {
	t.Parallel()
	header := ours(t, "1.3")
	for _, c := range []struct {
		name, cc, debian, pattern, with, where string
	}{
		{"atomic integer", "gcc", "gcc", `uint64_t byte_offset`, "_Atomic uint64_t byte_offset",
			"DLTensor.byte_offset"},
		{"atomic pointer", "gcc", "gcc", `int64_t\* shape`, "int64_t *_Atomic shape", "DLTensor.shape"},
		{"pointer to atomic", "gcc", "gcc", `int64_t\* shape`, "_Atomic int64_t *shape", "DLTensor.shape"},
		{"atomic struct", "gcc", "gcc", `DLDevice device;`, "_Atomic DLDevice device;", "DLTensor.device"},
		{"atomic function pointer", "gcc", "gcc", `(\*)(deleter\)\(struct DLManagedTensor\* )`, "$1 _Atomic $2",
			"DLManagedTensor.deleter"},
		{"atomic integer", "clang-16", "clang-16", `uint64_t byte_offset`, "_Atomic uint64_t byte_offset",
			"DLTensor.byte_offset"},
		{"atomic pointer in C++", "clang++-16", "clang-16", `void\* data`, "_Atomic(void *) data", "DLTensor.data"},
		{"address space", "gcc", "gcc", `void\* data`, "__seg_gs void *data", "DLTensor.data"},
		{"address space", "clang-16", "clang-16", `void\* data`, "__attribute__((address_space(256))) void *data",
			"DLTensor.data"},
		{"byte order", "gcc", "gcc", `typedef struct (\{[^{}]*\}) DLPackVersion;`,
			`typedef struct __attribute__((scalar_storage_order("big-endian"))) $1 DLPackVersion;`,
			"DLPackVersion.major"},
	} {
		t.Run(c.name+" "+c.cc, func(t *testing.T) {
			t.Parallel()
			testtool.Require(t, c.cc, c.debian)
			text := mutate(t, read(t, header), mutant{pattern: c.pattern, with: c.with})
			got := run(t, verify.Request{Header: put(t, text), CC: c.cc, Release: "1.3"})
			require.Equal(t, []string{"verify-field-type"}, codes(got), "%v", got.Diags)
			assert.Contains(t, got.Diags[0].Text, "type of "+c.where+" is")
			assert.Empty(t, got.Fits)
		})
	}
}
