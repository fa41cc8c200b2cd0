package gobind

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// A definition is a float format as in its standard, independent of the tables and bit operations
// of the bindings: IEEE 754, bfloat16, the 8-bit floats of OCP and of LLVM's APFloat, and OCP's
// microscaling formats.
type definition struct {
	name                     string
	dtype                    dlpack.DataType
	exponent, mantissa, bias int
	largest                  float64
	infinity                 bool // the code after the largest number
	negativeZero, signed     bool
	nan                      func(code uint32) bool
	decode                   func(code uint32) float32
	encode, saturate         func(float32) uint32
	text                     func(code uint32) string
}

func only(codes ...uint32) func(uint32) bool {
	return func(code uint32) bool { return slices.Contains(codes, code) }
}

// codec connects a definition with the type of the bindings.
func codec[T interface {
	~uint8 | ~uint16
	Float32() float32
	fmt.Stringer
}](d definition, from, saturated func(float32) T) definition {
	d.decode = func(code uint32) float32 { return T(code).Float32() }
	d.text = func(code uint32) string { return T(code).String() }
	d.encode = func(v float32) uint32 { return uint32(from(v)) }
	d.saturate = func(v float32) uint32 { return uint32(saturated(v)) }
	return d
}

// narrowCodec does the same for a packed type.
func narrowCodec[T interface {
	dlpack.Narrow
	Float32() float32
	fmt.Stringer
}](d definition, from func(float32) T) definition {
	d.decode = func(code uint32) float32 { return dlpack.FromBits[T](uint8(code)).Float32() }
	d.text = func(code uint32) string { return dlpack.FromBits[T](uint8(code)).String() }
	d.encode = func(v float32) uint32 { return uint32(from(v).Bits()) }
	d.saturate = d.encode
	return d
}

// definitions are all floats that Go lacks.
func definitions() []definition {
	ieee := func(name string, t dlpack.DataType, e, m, bias int, largest float64) definition {
		top := uint32(1<<e-1) << m
		sign := uint32(1) << (e + m)
		return definition{name: name, dtype: t, exponent: e, mantissa: m, bias: bias, largest: largest,
			infinity: true, negativeZero: true, signed: true,
			nan: func(code uint32) bool { return code&(sign-1) > top }}
	}
	finite := func(name string, t dlpack.DataType, e, m, bias int, largest float64, nan ...uint32) definition {
		return definition{name: name, dtype: t, exponent: e, mantissa: m, bias: bias, largest: largest, signed: true,
			negativeZero: !slices.Contains(nan, 0x80), nan: only(nan...)}
	}
	scale := finite("float8_e8m0fnu", dlpack.DTypeFloat8E8M0FNU, 8, 0, 127, 0x1p127, 0xff)
	scale.signed = false
	return []definition{
		codec(ieee("float16", dlpack.DTypeFloat16, 5, 10, 15, 65504), dlpack.Float16From, dlpack.Float16Saturated),
		codec(ieee("bfloat16", dlpack.DTypeBFloat16, 8, 7, 127, 0x1.fep127), dlpack.BFloat16From,
			dlpack.BFloat16Saturated),
		codec(ieee("float8_e3m4", dlpack.DTypeFloat8E3M4, 3, 4, 3, 15.5), dlpack.Float8E3M4From,
			dlpack.Float8E3M4Saturated),
		codec(ieee("float8_e4m3", dlpack.DTypeFloat8E4M3, 4, 3, 7, 240), dlpack.Float8E4M3From,
			dlpack.Float8E4M3Saturated),
		codec(ieee("float8_e5m2", dlpack.DTypeFloat8E5M2, 5, 2, 15, 57344), dlpack.Float8E5M2From,
			dlpack.Float8E5M2Saturated),
		codec(finite("float8_e4m3fn", dlpack.DTypeFloat8E4M3FN, 4, 3, 7, 448, 0x7f, 0xff), dlpack.Float8E4M3FNFrom,
			dlpack.Float8E4M3FNSaturated),
		codec(finite("float8_e4m3fnuz", dlpack.DTypeFloat8E4M3FNUZ, 4, 3, 8, 240, 0x80), dlpack.Float8E4M3FNUZFrom,
			dlpack.Float8E4M3FNUZSaturated),
		codec(finite("float8_e4m3b11fnuz", dlpack.DTypeFloat8E4M3B11FNUZ, 4, 3, 11, 30, 0x80),
			dlpack.Float8E4M3B11FNUZFrom, dlpack.Float8E4M3B11FNUZSaturated),
		codec(finite("float8_e5m2fnuz", dlpack.DTypeFloat8E5M2FNUZ, 5, 2, 16, 57344, 0x80),
			dlpack.Float8E5M2FNUZFrom, dlpack.Float8E5M2FNUZSaturated),
		codec(scale, dlpack.Float8E8M0FNUFrom, dlpack.Float8E8M0FNUSaturated),
		narrowCodec(finite("float6_e2m3fn", dlpack.DTypeFloat6E2M3FN, 2, 3, 1, 7.5), dlpack.Float6E2M3FNFrom),
		narrowCodec(finite("float6_e3m2fn", dlpack.DTypeFloat6E3M2FN, 3, 2, 3, 28), dlpack.Float6E3M2FNFrom),
		narrowCodec(finite("float4_e2m1fn", dlpack.DTypeFloat4E2M1FN, 2, 1, 1, 6), dlpack.Float4E2M1FNFrom),
	}
}

func (d definition) width() int { return d.exponent + d.mantissa }

// codes is the number of codes.
func (d definition) codes() uint32 {
	if d.signed {
		return 2 << d.width()
	}
	return 1 << d.width()
}

// value computes a magnitude exactly: every one is a float64.
func (d definition) value(magnitude uint32) float64 {
	exponent := int(magnitude >> d.mantissa)
	fraction := float64(magnitude & (1<<d.mantissa - 1))
	if exponent == 0 && d.signed {
		return math.Ldexp(fraction, 1-d.bias-d.mantissa)
	}
	return math.Ldexp(math.Ldexp(1, d.mantissa)+fraction, exponent-d.bias-d.mantissa)
}

// number returns the value of a code, including NaN and infinities.
func (d definition) number(code uint32) float64 {
	sign, magnitude := 1.0, code
	if d.signed && code>>d.width() == 1 {
		sign, magnitude = -1, code&(1<<d.width()-1)
	}
	switch v := d.value(magnitude); {
	case d.nan(code):
		return math.NaN()
	case v > d.largest:
		return math.Inf(int(sign))
	default:
		return math.Copysign(v, sign)
	}
}

// magnitudes are the codes of numbers without a sign, smallest first, and the value after the
// largest.
func (d definition) magnitudes() (values []float64) {
	for code := range uint32(1) << d.width() {
		values = append(values, d.value(code))
		if values[code] > d.largest {
			return values
		}
	}
	return append(values, d.value(1<<d.width()))
}

// nearest returns the code of the positive number nearest to x, or len(values)-1 if all numbers are
// smaller. It shares no code with the bindings.
func (d definition) nearest(values []float64, x float64) uint32 {
	high, found := slices.BinarySearch(values, x)
	switch {
	case found || high == 0:
		return uint32(high)
	case high == len(values):
		return uint32(high - 1)
	}
	below, above := x-values[high-1], values[high]-x
	if below < above || below == above && (high-1)%2 == 0 && d.mantissa > 0 {
		return uint32(high - 1)
	}
	return uint32(high)
}

// want is the expected code of x.
func (d definition) want(values []float64, x float32, saturated bool) (code uint32, nan bool) {
	negative := math.Signbit(float64(x))
	if x != x || !d.signed && (negative || x == 0) {
		return d.wantNaN(negative)
	}
	code = d.nearest(values, math.Abs(float64(x)))
	over := uint32(len(values) - 1)
	switch lacksNaN := d.dtype.Bits < 8; {
	case code == over && (saturated || lacksNaN):
		code--
	case code == over && !d.infinity:
		return 0, true
	}
	if negative && (code != 0 || d.negativeZero) {
		code |= 1 << d.width()
	}
	return code, false
}

// wantNaN is a zero with the other sign if no code is NaN.
func (d definition) wantNaN(negative bool) (code uint32, nan bool) {
	if d.dtype.Bits >= 8 {
		return 0, true
	}
	if negative {
		return 0, false
	}
	return 1 << d.width(), false
}

func TestEveryCodeOfEveryFloatMeansWhatItsFormatSays(t *testing.T) {
	for _, d := range definitions() {
		t.Run(d.name, func(t *testing.T) {
			for code := range d.codes() {
				want, got := d.number(code), float64(d.decode(code))
				if math.IsNaN(want) {
					require.True(t, math.IsNaN(got), "code %#x is %v", code, got)
					continue
				}
				require.Equal(t, math.Float64bits(want), math.Float64bits(got), "code %#x is %v, not %v", code, want,
					got)
			}
		})
	}
}

// inputs are all numbers of a format, the midpoint of each two, and the float32 neighbours of both:
// rounding is monotonic, so correct results there imply correct results everywhere. Values out of
// range, and any others, follow.
func (d definition) inputs(values []float64) (xs []float32) {
	add := func(v float64) {
		x := float32(v)
		for _, near := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, float32(math.Inf(1)))} {
			xs = append(xs, near, -near)
		}
	}
	for i, v := range values {
		add(v)
		if i > 0 {
			add(values[i-1] + (v-values[i-1])/2)
		}
	}
	for _, v := range []float64{0, math.SmallestNonzeroFloat32, math.MaxFloat32, math.Inf(1), 0x1p-126, 0x1p-127,
		0x1p-128} {
		add(v)
	}
	xs = append(xs, float32(math.NaN()), math.Float32frombits(0xffc00001), math.Float32frombits(0x7f800001),
		math.Float32frombits(0xffffffff))
	random, others := rand.New(rand.NewPCG(1, uint64(d.width()))), 1<<16
	if testing.Short() {
		others = 1 << 10
	}
	for range others {
		xs = append(xs, math.Float32frombits(random.Uint32()), float32(random.NormFloat64()))
	}
	return xs
}

func TestEveryFloatRoundsToTheNearestCode(t *testing.T) {
	for _, d := range definitions() {
		t.Run(d.name, func(t *testing.T) {
			values := d.magnitudes()
			for _, x := range d.inputs(values) {
				for _, saturated := range []bool{false, true} {
					encode := d.encode
					if saturated {
						encode = d.saturate
					}
					got := encode(x)
					want, nan := d.want(values, x, saturated)
					if nan && !d.nan(got) || !nan && got != want {
						t.Fatalf("%v (%#x), saturated %v: %#x, not %#x, NaN %v", x, math.Float32bits(x), saturated,
							got, want, nan)
					}
				}
			}
		})
	}
}

func TestEveryCodeSurvivesTheWayThroughFloat32(t *testing.T) {
	for _, d := range definitions() {
		for code := range d.codes() {
			back := d.encode(d.decode(code))
			if d.nan(code) {
				require.True(t, d.nan(back), "%s %#x", d.name, code)
				continue
			}
			require.Equal(t, code, back, d.name)
		}
	}
}

// A NaN keeps its sign if the format's NaN has one.
func TestNaNKeepsItsSign(t *testing.T) {
	negative := math.Float32frombits(0xffc00000)
	assert.Equal(t, dlpack.Float16(0xfe00), dlpack.Float16From(negative))
	assert.Equal(t, dlpack.BFloat16(0xffc0), dlpack.BFloat16From(negative))
	assert.Equal(t, dlpack.Float8E4M3FN(0xff), dlpack.Float8E4M3FNFrom(negative))
	assert.Equal(t, dlpack.Float8E5M2FNUZ(0x80), dlpack.Float8E5M2FNUZFrom(negative))
	assert.Equal(t, dlpack.Float8E8M0FNU(0xff), dlpack.Float8E8M0FNUFrom(negative))
	assert.True(t, math.Signbit(float64(dlpack.Float16(0xfc01).Float32())))
	assert.True(t, math.Signbit(float64(dlpack.Float8E4M3FN(0xff).Float32())))
}

func TestTheTextOfAFloatReadsBackAsTheSameCode(t *testing.T) {
	for _, d := range definitions() {
		for code := range d.codes() {
			var v float32
			_, err := fmt.Sscan(d.text(code), &v)
			require.NoError(t, err, "%s %#x: %s", d.name, code, d.text(code))
			if d.nan(code) {
				require.Equal(t, "NaN", d.text(code))
				continue
			}
			require.Equal(t, code, d.encode(v), "%s %#x: %s", d.name, code, d.text(code))
		}
	}
}

func TestNarrowIntegersWrapAsGoDoes(t *testing.T) {
	for v := -40; v < 40; v++ {
		signed, unsigned := dlpack.Int4From(v), dlpack.Uint4From(uint(v))
		assert.Equal(t, int(int8(v<<4))>>4, signed.Int())
		assert.Equal(t, uint(v)&15, unsigned.Uint())
		assert.Equal(t, signed.Bits(), unsigned.Bits())
		assert.Equal(t, signed, dlpack.FromBits[dlpack.Int4](uint8(v)))
	}
}

func TestTruthAndPairs(t *testing.T) {
	assert.Equal(t, dlpack.Bool(1), dlpack.BoolFrom(true))
	assert.Equal(t, dlpack.Bool(0), dlpack.BoolFrom(false))
	for code := range 256 {
		assert.Equal(t, code != 0, dlpack.Bool(code).Value())
	}
	v := dlpack.Complex32From(complex(1.5, float32(math.Inf(-1))))
	assert.Equal(t, dlpack.Complex32{Real: 0x3e00, Imag: 0xfc00}, v)
	assert.Equal(t, complex(1.5, float32(math.Inf(-1))), v.Complex64())
}

func TestShortNumbersTakeTheVerbsOfFmt(t *testing.T) {
	third := dlpack.Float16From(1. / 3)
	for want, got := range map[string]string{
		"0.3333":                   fmt.Sprint(third),
		"0.33325195":               fmt.Sprint(third.Float32()),
		"  0.33":                   fmt.Sprintf("%6.2f", third),
		"+3.333e-01":               fmt.Sprintf("%+.3e", third),
		"0.333":                    fmt.Sprintf("%.3v", third),
		"|0.3333  |":               fmt.Sprintf("|%-8v|", third),
		"65500":                    fmt.Sprint(dlpack.Float16(0x7bff)),
		"-Inf":                     fmt.Sprint(dlpack.Float16(0xfc00)),
		"448":                      fmt.Sprint(dlpack.Float8E4M3FN(0x7e)),
		"[-8 7]":                   fmt.Sprint([]dlpack.Int4{dlpack.Int4From(8), dlpack.Int4From(7)}),
		"0xf":                      fmt.Sprintf("%#x", dlpack.Uint4From(15)),
		"false true":               fmt.Sprintf("%v %t", dlpack.Bool(0), dlpack.Bool(7)),
		"(0.3333-0.1i)":            fmt.Sprint(dlpack.Complex32{Real: third, Imag: dlpack.Float16From(-0.1)}),
		"(0+0i)":                   dlpack.Complex32{}.String(),
		"(+Inf+NaNi)":              fmt.Sprint(dlpack.Complex32{Real: 0x7c00, Imag: 0x7e00}),
		"(0.33-0.10i)":             fmt.Sprintf("%.2f", dlpack.Complex32{Real: third, Imag: dlpack.Float16From(-0.1)}),
		"%!d(float32=0.5)":         fmt.Sprintf("%d", dlpack.Float4E2M1FNFrom(0.5)),
		"5.877472e-39":             fmt.Sprint(dlpack.Float8E8M0FNU(0)),
		"{ReadOnly|IsCopied}":      fmt.Sprintf("{%v}", dlpack.FlagReadOnly|dlpack.FlagIsCopied),
		"IsSubbyteTypePadded|4096": fmt.Sprint(dlpack.FlagIsSubbyteTypePadded | 1<<12),
	} {
		assert.Equal(t, want, got)
	}
	assert.Equal(t, "0", dlpack.Flags(0).String())
}
