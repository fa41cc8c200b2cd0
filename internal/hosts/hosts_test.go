package hosts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	source "github.com/dlpackgen/dlpackgen/spec"
)

func tvm(t testing.TB) string {
	t.Helper()
	src, err := source.Hosts.ReadFile("hosts/tvm_ffi.yaml")
	require.NoError(t, err)
	return string(src)
}

func decoded(text string) (*Host, string) {
	diags := &diag.List{}
	h := Decode("x.yaml", []byte(text), diags)
	return h, diag.Text(diags.Sorted(), false)
}

func TestEmbeddedHostsAreValid(t *testing.T) {
	entries, err := source.Hosts.ReadDir("hosts")
	require.NoError(t, err)
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		assert.Equal(t, name, Embedded(name).Name, "the file has the name of its host")
	}
}

// Every description in these tests is tvm-ffi's with one changed text.
func TestErrorsHaveAPosition(t *testing.T) {
	for _, c := range []struct{ old, fresh, want string }{
		{"host: 1\n", "host: 2\n", "x.yaml:3:7: error: host must be from 1 to 1, not 2 [out-of-range]"},
		{"name: tvm_ffi\n", "name: TVM\n", `x.yaml:4:7: error: name "TVM" must match`},
		{"title: tvm-ffi\n", "", `error: the host has no "title" [missing-key]`},
		{"  version: 0.1.15.post2\n", "", `x.yaml:7:3: error: source has no "version" [missing-key]`},
		{"{value: 70,", "{value: x,", "error: value must be a decimal integer"},
		{"kTVMFFITensor}", "kTVMFFITensor, was: 1}", `error: constant tensor has no key "was"`},
		{"name: capacity, offset: 16", "name: capacity, offset: 8", ""},
		{"name: capacity, offset: 16", "name: capacity, offset: 12",
			"field capacity of type int64_t is at 12, which is not a multiple of 8 [invalid-layout]"},
		{"name: data_deleter, offset: 24", "name: data_deleter, offset: 0",
			"field data_deleter is at 0, and the fields before it end at 24 [invalid-layout]"},
		{"name: capacity,", "name: size,", "the struct has two fields size [duplicate-name]"},
		{"name: capacity,", "name: union,", `"union" is a keyword of C or C++ [invalid-name]`},
		{"name: capacity,", "name: '},',", `must match ^[A-Za-z]`},
		{"type: uint64_t", "type: long", `field combined_ref_count has the unknown type "long" [unknown-type]`},
		{"type: uint64_t", "type: 'x; int y'", `has the unknown type "x; int y" [unknown-type]`},
		{"struct object *", "struct any_object *", `has the unknown type "struct any_object *" [unknown-type]`},
		{"    size: 32\n    align: 8", "    size: 24\n    align: 8",
			"struct seq_cell has 24 bytes, and its fields end at 32 [invalid-layout]"},
		{"    size: 32\n    align: 8", "    size: 32\n    align: 4",
			"struct seq_cell is aligned to 4, and its fields to 8 [invalid-layout]"},
		{"    size: 32\n    align: 8", "    size: 36\n    align: 8",
			"struct seq_cell has 36 bytes, which is not a multiple of 8 [invalid-layout]"},
		{`params: "DLTensor *, void **"`, `params: "DLTensor *, handle"`,
			"function make_tensor has an unknown type: int (DLTensor *, handle) [unknown-type]"},
		{"void (*)(void *), void **", "void (*)(handle), void **", "function make_function has an unknown type"},
		{"structs:", "structs: 3\nstruct:", "structs must be a mapping, not a value"},
	} {
		h, found := decoded(mutant.Once(t, tvm(t), c.old, c.fresh))
		if c.want == "" {
			assert.NotNil(t, h, found)
			continue
		}
		assert.Nil(t, h, c.fresh)
		assert.Contains(t, found, c.want)
	}
}

func TestStructsInC(t *testing.T) {
	h, found := decoded(`
host: 1
name: acme
title: Acme
source: {package: acme, version: "2", include: inc, headers: [acme.h]}
constants: {most: {value: -7, native: ACME_MOST}}
structs:
  list:
    native: AcmeList
    size: 56
    align: 8
    fields:
      - {name: call, offset: 8, type: "int (*)(struct list *, const char *)", since: "2"}
      - {name: number, offset: 16, type: int64_t}
      - {name: real, offset: 16, type: double}
      - {name: text, offset: 24, type: "char[4]"}
  pair:
    native: AcmePair
    size: 112
    align: 8
    fields: [{name: first, offset: 0, type: struct list}, {name: second, offset: 56, type: struct list}]
functions: {find: {symbol: AcmeFind, returns: "struct list *", params: "const struct pair *", since: "1.5"}}
`)
	require.NotNil(t, h, found)
	v := h.View()
	assert.Equal(t, []string{"DLPACKGEN_ACME_MOST = -7, /* ACME_MOST */"}, v.Constants)
	assert.Equal(t, []string{
		"  unsigned char reserved_0_[8];",
		"  int (*call)(struct dlpackgen_acme_list*, const char*); /* since 2 */",
		"  union {", "    int64_t number;", "    double real;", "  };",
		"  char text[4];",
		"  unsigned char reserved_28_[28];",
	}, v.Structs[0].Lines)
	assert.Equal(t, "  struct dlpackgen_acme_list second;", v.Structs[1].Lines[1])
	assert.False(t, v.Lookup)
	assert.Equal(t, v.Functions, []FunctionView{{Comment: "AcmeFind, since 1.5", Name: "find", Symbol: "AcmeFind",
		Type: "typedef struct dlpackgen_acme_list* (*dlpackgen_acme_find)(const struct dlpackgen_acme_pair*);"}})
}

// A C++ symbol has no name in headers, unless `native` defines one.
func TestFunctionsThatAreLookedUp(t *testing.T) {
	h, found := decoded(`
host: 1
name: acme
title: Acme
source: {package: acme, version: "2", include: inc, headers: [acme.h]}
lookup: true
functions:
  find: {symbol: acme_find, returns: int, params: void, optional: true}
  size: {symbol: _ZNK4acme4sizeEm, macos: _ZNK4acme4sizeEy, native: "acme::size", returns: int, params: const void *}
  end: {symbol: _ZN4acme3endEv, returns: void, params: void}
`)
	require.NotNil(t, h, found)
	assert.Equal(t, []string{"acme_find", "acme::size", ""},
		[]string{h.Functions[0].Native, h.Functions[1].Native, h.Functions[2].Native})
	v := h.View()
	assert.True(t, v.Lookup)
	assert.Equal(t, "?acme_find", v.Functions[0].Symbol)
	assert.Equal(t, "_ZNK4acme4sizeEm", v.Functions[1].Symbol)
	assert.Equal(t, "_ZNK4acme4sizeEy", v.Functions[1].MacOS)
}

// Any text results in findings or a description.
func FuzzDecode(f *testing.F) {
	f.Add(tvm(f))
	f.Add("host: 1\nstructs: {a: {fields: [{}]}}")
	f.Add("structs: {a: {native: A, size: 8, align: 8, fields: [{name: x, offset: 0, type: 'struct a[2]'}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		if h, found := decoded(text); h == nil {
			assert.NotEmpty(t, found)
		} else {
			h.View()
		}
	})
}

// The structs of DLPack have the sizes of internal/layout, on 64-bit systems.
func TestStructsOfDLPackNeedNoDeclaration(t *testing.T) {
	for name, want := range map[string]extent{"DLDataType": {4, 2}, "DLDevice": {8, 4}, "DLTensor": {48, 8},
		"DLManagedTensorVersioned": {80, 8}} {
		size, align, ok := measure(name, nil, "")
		assert.True(t, ok, name)
		assert.Equal(t, want, extent{size, align}, name)
	}
}
