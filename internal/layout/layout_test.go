package layout

import (
	"math"
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

// tensor contains DLTensor and its dependencies, which are all that differs between data models.
func tensor() *spec.Release {
	return &spec.Release{Version: "1.3", Decls: []spec.Decl{
		&spec.Enum{Name: "Kind", CxxUnderlying: "int32",
			Values: []spec.EnumValue{{Name: "kA", Value: 1}, {Name: "kB", Value: 17}}},
		&spec.Struct{Name: "Device",
			Fields: []spec.Field{{Name: "kind", Type: named("Kind")}, {Name: "id", Type: builtin("int32")}}},
		&spec.Struct{Name: "DataType", Fields: []spec.Field{
			{Name: "code", Type: builtin("uint8")}, {Name: "bits", Type: builtin("uint8")},
			{Name: "lanes", Type: builtin("uint16")},
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

// The numbers were computed by hand from each platform's ABI document.
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

func TestHolesByHand(t *testing.T) {
	got, _ := Of(tensor(), ILP32, C).Struct("Tensor")
	assert.Equal(t, []Hole{{Offset: 28, Size: 4}}, got.Holes, "before byte_offset, which wants 8")
	got, _ = Of(tensor(), I386, C).Struct("Tensor")
	assert.Empty(t, got.Holes)

	tail := structOf("S", pointer(builtin("char")), builtin("uint8"), builtin("int16"))
	got, _ = Of(tail, LP64, C).Struct("S")
	assert.Equal(t, []Hole{{Offset: 9, Size: 1}, {Offset: 12, Size: 4}}, got.Holes, "inside and at the end")
	assert.Equal(t, 16, got.Size)
}

func structOf(name string, types ...spec.Type) *spec.Release {
	s := &spec.Struct{Name: name}
	for _, t := range types {
		s.Fields = append(s.Fields, spec.Field{Name: "f", Type: t})
	}
	return &spec.Release{Decls: []spec.Decl{s}}
}

func TestEveryKindOfTypeHasItsRoom(t *testing.T) {
	r := tensor()
	r.Decls = append(r.Decls,
		&spec.Alias{Name: "Context", Target: "Device"},
		&spec.Alias{Name: "Again", Target: "Context"},
		&spec.Alias{Name: "Number", Target: "int16"},
		&spec.Callback{Name: "Call"},
	)
	tests := []struct {
		typ         spec.Type
		size, align int
	}{
		{builtin("char"), 1, 1}, {builtin("int8"), 1, 1}, {builtin("uint8"), 1, 1},
		{builtin("int16"), 2, 2}, {builtin("uint16"), 2, 2},
		{builtin("int"), 4, 4}, {builtin("int32"), 4, 4}, {builtin("uint32"), 4, 4},
		{builtin("int64"), 8, 4}, {builtin("uint64"), 8, 4},
		{pointer(builtin("void")), 4, 4}, {function(), 4, 4}, {named("Call"), 4, 4},
		{named("Kind"), 4, 4}, {named("Device"), 8, 4}, {named("Tensor"), 36, 4},
		{named("Context"), 8, 4}, {named("Again"), 8, 4}, {named("Number"), 2, 2},
	}
	s := &spec.Struct{Name: "All"}
	for _, tt := range tests {
		s.Fields = append(s.Fields, spec.Field{Name: "f", Type: tt.typ})
	}
	r.Decls = append(r.Decls, s)
	got, ok := Of(r, I386, C).Struct("All")
	require.True(t, ok)
	for i, tt := range tests {
		assert.Equal(t, tt.size, got.Fields[i].Size, "%+v", tt.typ)
		assert.Equal(t, tt.align, got.Fields[i].Align, "%+v", tt.typ)
	}
}

// The spec rejects all of these, but the computation must still end.
func TestAbsurdSpecsEnd(t *testing.T) {
	self := structOf("S", named("S"), builtin("int32"))
	got, _ := Of(self, LP64, C).Struct("S")
	assert.Equal(t, 4, got.Fields[1].Size)

	ring := &spec.Release{Decls: []spec.Decl{
		&spec.Alias{Name: "A", Target: "B"}, &spec.Alias{Name: "B", Target: "A"},
		&spec.Struct{Name: "S",
			Fields: []spec.Field{{Name: "f", Type: named("A")}, {Name: "g", Type: named("nobody")}}},
	}}
	got, _ = Of(ring, LP64, C).Struct("S")
	assert.Equal(t, Struct{Name: "S", Size: 0, Align: 1, Fields: got.Fields}, got)

	doubling := structOf("S0", builtin("uint64"))
	for i := range 80 {
		inner := named("S" + string(rune('0'+i)))
		doubling.Decls = append(doubling.Decls, &spec.Struct{
			Name:   "S" + string(rune('1'+i)),
			Fields: []spec.Field{{Name: "a", Type: inner}, {Name: "b", Type: inner}},
		})
	}
	for _, s := range Of(doubling, LP64, C).Structs {
		assert.Positive(t, s.Size, "%s: the size has overflowed", s.Name)
		assert.Less(t, 2*int64(s.Size), int64(math.MaxInt32), "%s: two of them overflow an int of 32 bits", s.Name)
	}
}

func TestUnknownNames(t *testing.T) {
	table := Of(tensor(), LP64, C)
	_, ok := table.Struct("Kind")
	assert.False(t, ok, "an enum is not a struct")
	_, ok = table.Enum("Tensor")
	assert.False(t, ok)
}

func TestAliasesAreFollowedToTheirEnd(t *testing.T) {
	r := &spec.Release{Decls: []spec.Decl{
		&spec.Alias{Name: "A", Target: "B"}, &spec.Alias{Name: "B", Target: "uint8"},
		&spec.Alias{Name: "C", Target: "Device"},
		&spec.Alias{Name: "Ring", Target: "Ring"},
	}}
	table := Of(r, LP64, C)
	assert.Equal(t, builtin("uint8"), table.Underlying(named("A")))
	assert.Equal(t, named("Device"), table.Underlying(named("C")))
	assert.Equal(t, pointer(named("A")), table.Underlying(pointer(named("A"))))
	assert.Equal(t, named("Ring"), table.Underlying(named("Ring")), "no end is not a hang")
}
