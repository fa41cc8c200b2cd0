package layout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func builtin(name string) spec.Type { return spec.Type{Kind: spec.Builtin, Name: name} }
func named(name string) spec.Type   { return spec.Type{Kind: spec.Named, Name: name} }
func pointer(t spec.Type) spec.Type { return spec.Type{Kind: spec.Pointer, Elem: &t} }

func function() spec.Type {
	return spec.Type{Kind: spec.Function, Func: &spec.Func{Returns: builtin("void")}}
}

// tensor is DLTensor and what it needs, which is all that differs from one
// data model to the next.
func tensor() *spec.Release {
	return &spec.Release{Version: "1.3", Decls: []spec.Decl{
		&spec.Enum{Name: "Kind", CxxUnderlying: "int32", Values: []spec.EnumValue{{Name: "kA", Value: 1}, {Name: "kB", Value: 17}}},
		&spec.Struct{Name: "Device", Fields: []spec.Field{{Name: "kind", Type: named("Kind")}, {Name: "id", Type: builtin("int32")}}},
		&spec.Struct{Name: "DataType", Fields: []spec.Field{
			{Name: "code", Type: builtin("uint8")}, {Name: "bits", Type: builtin("uint8")}, {Name: "lanes", Type: builtin("uint16")},
		}},
		&spec.Struct{Name: "Tensor", Fields: []spec.Field{
			{Name: "data", Type: pointer(builtin("void"))}, {Name: "device", Type: named("Device")},
			{Name: "ndim", Type: builtin("int32")}, {Name: "dtype", Type: named("DataType")},
			{Name: "shape", Type: pointer(builtin("int64"))}, {Name: "strides", Type: pointer(builtin("int64"))},
			{Name: "byte_offset", Type: builtin("uint64")},
		}},
	}}
}

func offsets(s Struct) []int {
	var out []int
	for _, f := range s.Fields {
		out = append(out, f.Offset)
	}
	return out
}

// The numbers are worked out by hand from each platform's ABI document.
func TestTensorByHand(t *testing.T) {
	tests := []struct {
		model       Model
		size, align int
		offsets     []int
	}{
		{LP64, 48, 8, []int{0, 8, 16, 20, 24, 32, 40}},
		{LLP64, 48, 8, []int{0, 8, 16, 20, 24, 32, 40}},
		{I386, 36, 4, []int{0, 4, 12, 16, 20, 24, 28}},
		{ILP32, 40, 8, []int{0, 4, 12, 16, 20, 24, 32}},
		{ShortEnums, 40, 8, []int{0, 4, 12, 16, 20, 24, 32}},
		{Win32, 40, 8, []int{0, 4, 12, 16, 20, 24, 32}},
	}
	for _, tt := range tests {
		t.Run(tt.model.Name, func(t *testing.T) {
			got, ok := Of(tensor(), tt.model, C).Struct("Tensor")
			require.True(t, ok)
			assert.Equal(t, tt.size, got.Size)
			assert.Equal(t, tt.align, got.Align)
			assert.Equal(t, tt.offsets, offsets(got))
		})
	}
}
