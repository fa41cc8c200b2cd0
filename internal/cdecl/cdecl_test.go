package cdecl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func release(t *testing.T, version string) *spec.Release {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return r
}

func named(name string) spec.Type { return spec.Type{Kind: spec.Named, Name: name} }

func pointer(to spec.Type) spec.Type { return spec.Type{Kind: spec.Pointer, Elem: &to} }

func TestDeclarationsReadAsC(t *testing.T) {
	r := release(t, "1.3")
	constChar := spec.Type{Kind: spec.Builtin, Name: "char", Const: true}
	callback := spec.Type{Kind: spec.Function, Func: &spec.Func{
		Returns: pointer(named("DLTensor")),
		Params:  []spec.Param{{Name: "text", Type: pointer(constChar)}},
	}}
	fixed := pointer(spec.Type{Kind: spec.Builtin, Name: "uint8"})
	fixed.Const = true
	for _, c := range []struct {
		t              spec.Type
		bare, withName string
	}{
		{spec.Type{Kind: spec.Builtin, Name: "int"}, "int", "int x"},
		{spec.Type{Kind: spec.Builtin, Name: "int64"}, "int64_t", "int64_t x"},
		{pointer(pointer(named("DLTensor"))), "DLTensor **", "DLTensor **x"},
		{pointer(constChar), "const char *", "const char *x"},
		{fixed, "uint8_t *const", "uint8_t *const x"},
		{callback, "DLTensor *(*)(const char *)", "DLTensor *(*x)(const char *text)"},
		{pointer(callback), "DLTensor *(**)(const char *)", "DLTensor *(**x)(const char *text)"},
	} {
		assert.Equal(t, c.bare, cdecl.Of(r).Type(c.t))
		assert.Equal(t, c.withName, cdecl.Of(r).Declare(c.t, "x"))
	}
}

func TestTagIsTheOnlyNameInsideItsOwnBodyAndBeforeItsTypedef(t *testing.T) {
	const name = "DLManagedTensorVersioned"
	assert.Equal(t, name, cdecl.Of(release(t, "1.3")).Name(name))
	assert.Equal(t, "struct "+name, cdecl.Of(release(t, "1.3")).In(name).Name(name))
	assert.Equal(t, "struct "+name, cdecl.Of(release(t, "1.1")).Name(name))
}

func TestTypedefNamesItsParameters(t *testing.T) {
	r := release(t, "1.3")
	allocator := spec.Find[*spec.Callback](r, "DLPackManagedTensorAllocator")
	assert.Equal(t, "typedef int (*DLPackManagedTensorAllocator)(DLTensor *prototype, DLManagedTensorVersioned **out, "+
		"void *error_ctx, void (*SetError)(void *error_ctx, const char *kind, const char *message));",
		cdecl.Of(r).Typedef(allocator))
}

func TestFlagBody(t *testing.T) {
	assert.Equal(t, "(1UL << 2UL)", cdecl.Flag(&spec.Flag{Bit: 2}))
}
