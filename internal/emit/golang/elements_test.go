package golang

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// with returns a release with one more data type, like a vendor's.
func with(t *testing.T, version string, d spec.DType) *spec.Release {
	t.Helper()
	r := *emittest.Release(t, version)
	r.DTypes = append(slices.Clone(r.DTypes), d)
	return &r
}

func TestFloatsAreReadFromTheirNames(t *testing.T) {
	for name, test := range map[string]struct {
		code string
		bits int
		want float
	}{
		"float16":            {"kDLFloat", 16, float{5, 10, 15, infinities}},
		"bfloat16":           {"kDLBfloat", 16, float{8, 7, 127, infinities}},
		"float8_e3m4":        {"x", 8, float{3, 4, 3, infinities}},
		"float8_e4m3b11fnuz": {"x", 8, float{4, 3, 11, unsignedZero}},
		"float8_e4m3fn":      {"x", 8, float{4, 3, 7, oneNaN}},
		"float8_e5m2fnuz":    {"x", 8, float{5, 2, 16, unsignedZero}},
		"float8_e8m0fnu":     {"x", 8, float{8, 0, 127, unsigned}},
		"float6_e3m2fn":      {"x", 6, float{3, 2, 3, numbersOnly}},
		"float4_e2m1fn":      {"x", 4, float{2, 1, 1, numbersOnly}},
	} {
		got, ok := floatOf(spec.DType{Name: name, Code: test.code, Bits: test.bits, Lanes: 1})
		require.True(t, ok, name)
		assert.Equal(t, test.want, got, name)
	}
}

// A vendor's types that the run time cannot convert have no type in Go.
func TestOtherFloatsAreNot(t *testing.T) {
	for name, bits := range map[string]int{
		"float8_e4m4": 8, "float8_e4m3x": 8, "float8_e4m3fnu": 8, "float8_e8m0fn": 8, "float16_e8m7b5": 16,
		"float8_e0m7": 8,
		"float8_e7m0": 8, "acme8": 8, "float32": 32, "float8_e8m0fnu_x": 8, "float12_e8m0fnu": 12,
		"float12_e8m3fnuz": 12,
	} {
		d := spec.DType{Name: name, Code: "x", Bits: bits, Lanes: 1}
		_, ok := floatOf(d)
		assert.False(t, ok, name)
		assert.Nil(t, (&binding{release: &spec.Release{}}).ownType(d, nil), name)
	}
}

func TestRangeOfAFloat(t *testing.T) {
	for name, want := range map[string][2]float64{
		"float8_e5m2":        {57344, 0x1p-16},
		"float8_e4m3fn":      {448, 0x1p-9},
		"float8_e4m3b11fnuz": {30, 0x1p-13},
		"float8_e8m0fnu":     {0x1p127, 0x1p-127},
		"float6_e2m3fn":      {7.5, 0.125},
		"float4_e2m1fn":      {6, 0.5},
	} {
		f, ok := floatOf(spec.DType{Name: name, Code: "x", Bits: int(name[5] - '0'), Lanes: 1})
		require.True(t, ok, name)
		assert.Equal(t, want, [2]float64{f.largest(), f.smallest()}, name)
	}
}

func names(all []element) (names []string) {
	for _, e := range all {
		names = append(names, e.types...)
	}
	return names
}

// Each release has exactly the types of its data types.
func TestTypesOfElementsFollowTheRelease(t *testing.T) {
	for version, pairs := range map[string]bool{"1.2": false, "1.3": false, "main": true} {
		b := &binding{release: emittest.Release(t, version)}
		got := names(b.elements())
		assert.Subset(t, got, []string{"Bool", "bool", "Int4", "Uint4", "int", "uintptr", "Float16", "BFloat16",
			"Float8E4M3B11FNUZ", "Float4E2M1FN", "Complex32", "complex128"})
		assert.Equal(t, pairs, slices.Contains(got, "BComplex32"), version)
		assert.Equal(t, len(b.release.DTypes), len(b.elements()), "every data type of DLPack has a type in Go")
		text := emitted(t, &emit.Model{Release: b.release})["elements.go"]
		for _, d := range b.release.DTypes {
			assert.Contains(t, text, "case "+dtype(d.Name)+":\n\t\treturn load[")
		}
	}
}

func TestAVendorsDataTypes(t *testing.T) {
	for _, test := range []struct {
		dtype spec.DType
		want  string // in elements.go; "" if the type is not there
	}{
		{spec.DType{Name: "int2", Code: "kDLInt", Bits: 2, Lanes: 1},
			"// Int2 is an element of type int2: an integer from -2 to 1.\ntype Int2 struct {"},
		{spec.DType{Name: "uint1", Code: "kDLUInt", Bits: 1, Lanes: 1},
			"func Uint1From(v uint) Uint1 {\n\treturn Uint1{uint8(v) & 1}"},
		{spec.DType{Name: "float8_e2m5fn", Code: "kDLFloat8_e5m2", Bits: 8, Lanes: 1}, "type Float8E2M5FN uint8"},
		{spec.DType{Name: "int24", Code: "kDLInt", Bits: 24, Lanes: 1}, ""},
		{spec.DType{Name: "float32x4", Code: "kDLFloat", Bits: 32, Lanes: 4}, ""},
		{spec.DType{Name: "float128", Code: "kDLFloat", Bits: 128, Lanes: 1}, ""},
		{spec.DType{Name: "handle", Code: "kDLOpaqueHandle", Bits: 64, Lanes: 1}, ""},
	} {
		before := emitted(t, &emit.Model{Release: emittest.Release(t, "1.3")})["elements.go"]
		after := emitted(t, &emit.Model{Release: with(t, "1.3", test.dtype)})["elements.go"]
		if test.want == "" {
			assert.Equal(t, before, after, test.dtype.Name)
			continue
		}
		assert.Contains(t, after, test.want, test.dtype.Name)
	}
}

// A type with the name of another one in the package is an error, not an invalid file.
func TestNamesOfElementTypesAreUnique(t *testing.T) {
	_, err := Target.Emit(&emit.Model{Release: with(t, "1.3",
		spec.DType{Name: "Int4", Code: "kDLInt", Bits: 4, Lanes: 1})})
	assert.ErrorContains(t, err, "would both be named Int4")
}

func TestPairsNeedTheirParts(t *testing.T) {
	r := *emittest.Release(t, "main")
	r.DTypes = slices.DeleteFunc(slices.Clone(r.DTypes), func(d spec.DType) bool { return d.Name == "bfloat16" })
	got := names((&binding{release: &r}).elements())
	assert.Contains(t, got, "Complex32")
	assert.NotContains(t, got, "BComplex32")
}
