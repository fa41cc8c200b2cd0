package layout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func enumOf(underlying string, values ...int64) *spec.Release {
	e := &spec.Enum{Name: "E", CxxUnderlying: underlying}
	for _, v := range values {
		e.Values = append(e.Values, spec.EnumValue{Name: "k", Value: v})
	}
	return &spec.Release{Decls: []spec.Decl{e}}
}

func TestEnumWidth(t *testing.T) {
	tests := []struct {
		name       string
		model      Model
		lang       Lang
		underlying string
		values     []int64
		want       Enum
	}{
		{"int wide by default", LP64, C, "", []int64{0, 17}, Enum{"E", 4, 4, false}},
		{"signed for a negative value", LP64, C, "", []int64{-1, 17}, Enum{"E", 4, 4, true}},
		{"windows has int", LLP64, C, "", []int64{0, 17}, Enum{"E", 4, 4, true}},
		{"windows has int whatever the values", Win32, CXX, "", []int64{0, 1 << 40}, Enum{"E", 4, 4, true}},
		{"all of uint32", LP64, C, "", []int64{1<<32 - 1}, Enum{"E", 4, 4, false}},
		{"beyond uint32", LP64, C, "", []int64{1 << 32}, Enum{"E", 8, 8, false}},
		{"beyond uint32 on i386", I386, C, "", []int64{1 << 32}, Enum{"E", 8, 4, false}},
		{"beyond int32 when signed", LP64, C, "", []int64{-1, 1 << 31}, Enum{"E", 8, 8, true}},
		{"short, last that fits", ShortEnums, C, "", []int64{255}, Enum{"E", 1, 1, false}},
		{"short, first that does not", ShortEnums, C, "", []int64{256}, Enum{"E", 2, 2, false}},
		{"short, signed, last that fits", ShortEnums, C, "", []int64{-128, 127}, Enum{"E", 1, 1, true}},
		{"short, signed, high too far", ShortEnums, C, "", []int64{-1, 128}, Enum{"E", 2, 2, true}},
		{"short, signed, low too far", ShortEnums, C, "", []int64{-129}, Enum{"E", 2, 2, true}},
		{"short, three bytes do not exist", ShortEnums, C, "", []int64{1 << 16}, Enum{"E", 4, 4, false}},
		{"C has no fixed type", ShortEnums, C, "int32", []int64{1}, Enum{"E", 1, 1, false}},
		{"C++ fixes it even when short", ShortEnums, CXX, "int32", []int64{1}, Enum{"E", 4, 4, true}},
		{"C++ unfixed is as C", ShortEnums, CXX, "", []int64{1}, Enum{"E", 1, 1, false}},
		{"C++ may fix it narrower", LP64, CXX, "uint8", []int64{1}, Enum{"E", 1, 1, false}},
		{"no values at all", ShortEnums, C, "", nil, Enum{"E", 1, 1, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Of(enumOf(tt.underlying, tt.values...), tt.model, tt.lang).Enum("E")
			require.True(t, ok)
			assert.Equal(t, tt.want, got)
		})
	}
}

// With short enums, an enum of one byte is followed by three bytes of padding before the int32;
// only C++ fills them (DLPack 0.7 fixed the type there).
func TestShortEnumMakesAHole(t *testing.T) {
	c, _ := Of(tensor(), ShortEnums, C).Struct("Device")
	assert.Equal(t, []Hole{{Offset: 1, Size: 3}}, c.Holes)
	assert.Equal(t, []int{0, 4}, offsets(c))
	cxx, _ := Of(tensor(), ShortEnums, CXX).Struct("Device")
	assert.Empty(t, cxx.Holes)
}
