//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"fmt"
	"math"
	"strconv"
)

// floatFormat is the encoding of a float of at most 16 bits: from the highest bit, a sign, an
// exponent and a mantissa, as in IEEE 754.
type floatFormat struct {
	exponent, mantissa uint8 // bits
	bias               uint8
	specials           specials
}

// specials determines which codes are not numbers, and therefore the conversion of numbers out of
// range.
type specials uint8

const (
	infinities   specials = iota // IEEE 754: the highest exponent has infinities and NaNs
	oneNaN                       // fn: no infinities; the highest code, of either sign, is NaN
	unsignedZero                 // fnuz: no infinities; the code of -0 is NaN
	unsigned                     // fnu: neither sign nor zero; the highest code is NaN
	numbersOnly                  // fn below a byte: neither infinities nor NaN
)

// The bits of float32.
const (
	floatNaN      = 0x7fc00000
	floatInfinity = 0x7f800000
	floatMantissa = 23
	floatBias     = 127
)

// width returns the width of a code without its sign, in bits.
func (f floatFormat) width() uint8 { return f.exponent + f.mantissa }

// endless returns the code of infinity, which is the first code that is not a number, in formats
// with infinities.
func (f floatFormat) endless() uint32 { return (1<<f.exponent - 1) << f.mantissa }

// highest returns the code of the largest number.
func (f floatFormat) highest() uint32 {
	switch f.specials {
	case infinities:
		return f.endless() - 1
	case oneNaN, unsigned:
		return 1<<f.width() - 2
	default:
		return 1<<f.width() - 1
	}
}

// nan returns the code of NaN. Formats without NaN use a zero of the opposite sign, like ml_dtypes
// in Python.
func (f floatFormat) nan(sign uint32) uint32 {
	switch f.specials {
	case infinities:
		return sign<<f.width() | f.endless() | 1<<f.mantissa>>1
	case oneNaN:
		return (sign+1)<<f.width() - 1
	case unsigned:
		return 1<<f.width() - 1
	case unsignedZero:
		return 1 << f.width()
	default:
		return (1 - sign) << f.width()
	}
}

func (f floatFormat) isNaN(code uint32) bool {
	magnitude := code & (1<<f.width() - 1)
	switch f.specials {
	case infinities:
		return magnitude > f.endless()
	case unsignedZero:
		return code == 1<<f.width()
	case numbersOnly:
		return false
	default:
		return magnitude == 1<<f.width()-1
	}
}

// decode returns the exact number. A NaN keeps only its sign. Between the lowest and the highest
// exponent, all formats have the same rules.
func (f floatFormat) decode(code uint32) float32 {
	magnitude := code & (1<<f.width() - 1)
	if magnitude>>f.mantissa-1 >= 1<<f.exponent-2 {
		return f.decodeRare(code, magnitude)
	}
	return math.Float32frombits(code>>f.width()<<31 | (magnitude<<(floatMantissa-f.mantissa) +
		uint32(floatBias-f.bias)<<floatMantissa))
}

func (f floatFormat) decodeRare(code, magnitude uint32) float32 {
	sign := code >> f.width() << 31
	shift := floatMantissa - f.mantissa
	switch {
	case f.isNaN(code):
		return math.Float32frombits(sign | floatNaN)
	case f.specials == infinities && magnitude == f.endless():
		return math.Float32frombits(sign | floatInfinity)
	case f.specials == unsigned && magnitude == 0:
		return 0x1p-127
	case f.bias == floatBias:
		return math.Float32frombits(sign | magnitude<<shift)
	case magnitude>>f.mantissa == 0:
		unit := math.Float32frombits(sign | uint32(floatBias+1-f.bias-f.mantissa)<<floatMantissa)
		return float32(magnitude) * unit
	default:
		return math.Float32frombits(sign | (magnitude<<shift + uint32(floatBias-f.bias)<<floatMantissa))
	}
}

// encode rounds to the nearest number, ties to even. Numbers out of range become infinity, NaN or
// the largest number, whichever the format has first. If saturated, they and infinity always become
// the largest number.
func (f floatFormat) encode(x float32, saturated bool) uint32 {
	bits := math.Float32bits(x)
	sign, magnitude := bits>>31, bits&^(1<<31)
	if magnitude > floatInfinity {
		return f.nan(sign)
	}
	if f.specials == unsigned && (sign == 1 || magnitude == 0) {
		return f.nan(0)
	}
	code := f.round(magnitude)
	switch {
	case code <= f.highest():
	case saturated || f.specials == numbersOnly:
		code = f.highest()
	case f.specials == infinities:
		code = f.endless()
	default:
		return f.nan(sign)
	}
	if code == 0 && f.specials == unsignedZero {
		sign = 0
	}
	return sign<<f.width() | code
}

// round returns the code of a positive number, as if exponents were unlimited.
func (f floatFormat) round(magnitude uint32) uint32 {
	exponent := int(magnitude >> floatMantissa)
	fraction := magnitude & (1<<floatMantissa - 1)
	switch {
	case exponent != 0:
		fraction |= 1 << floatMantissa
	case f.specials == unsigned:
		// In float32, 2^-127 and its neighbours are subnormal. Up to 1.5 times 2^-127, the smallest
		// number, 2^-127, is the nearest.
		return fraction / (3 << (floatMantissa - 2))
	default:
		exponent = 1
	}
	scaled := exponent - floatBias + int(f.bias)
	shift := floatMantissa - int(f.mantissa)
	if scaled < 1 {
		shift += 1 - scaled
		scaled = 1
	}
	if shift > floatMantissa+2 {
		return 0 // it would be out of range below, and is less than half of the smallest number
	}
	rounded, rest, half := fraction>>shift, fraction&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > half || rest == half && rounded&1 == 1 {
		rounded++
	}
	return uint32(scaled-1)<<f.mantissa + rounded
}

// formatFloat writes a number of 16 bits or fewer with any verb for floats. With %v and %s, it
// writes only the digits that distinguish the number from its neighbours.
func formatFloat[T ShortFloat](s fmt.State, verb rune, x T) {
	if _, precise := s.Precision(); precise || verb != 'v' && verb != 's' {
		fmt.Fprintf(s, fmt.FormatString(s, verb), x.Float32())
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, 's'), x.String())
}

// shortest returns the fewest digits that read back as the same code.
func (f floatFormat) shortest(code uint32) string {
	x := f.decode(code)
	for digits := 1; digits < 9; digits++ {
		text := strconv.FormatFloat(float64(x), 'e', digits-1, 32)
		if near, err := strconv.ParseFloat(text, 32); err == nil && f.encode(float32(near), false) == code {
			return fmt.Sprint(float32(near))
		}
	}
	return fmt.Sprint(x)
}

// complexText writes a complex number from the texts of its parts.
func complexText(re, im string) string {
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return "(" + re + im + "i)"
}

// formatComplex writes a pair of short floats with any verb for complex numbers.
func formatComplex(s fmt.State, verb rune, short fmt.Stringer, value complex64) {
	if _, precise := s.Precision(); precise || verb != 'v' && verb != 's' {
		fmt.Fprintf(s, fmt.FormatString(s, verb), value)
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, 's'), short.String())
}
