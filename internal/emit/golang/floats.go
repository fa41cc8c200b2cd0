package golang

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// float is the encoding of floats of 16 bits or fewer.
type float struct {
	exponent, mantissa, bias int
	specials                 specials
}

// specials is a constant of the runtime: the meaning of the codes that are not numbers. The runtime
// documents it.
type specials string

const (
	infinities   specials = "infinities"
	oneNaN       specials = "oneNaN"
	unsignedZero specials = "unsignedZero"
	unsigned     specials = "unsigned"
	numbersOnly  specials = "numbersOnly"
)

// suffixes are the letters at the end of a float's name: finite, NaN, unsigned,
// zero.
var suffixes = map[string]specials{"": infinities, "fn": oneNaN, "fnuz": unsignedZero, "fnu": unsigned}

// floatName is float8_e4m3b11fnuz and its like: bits of exponent and mantissa,
// perhaps the bias, suffix.
var floatName = regexp.MustCompile(`^float\d+_e([1-8])m(\d)(?:b(\d{1,2}))?([a-z]*)$`)

// floatOf derives the encoding from a name. ok is false if the runtime cannot convert the format.
func floatOf(d spec.DType) (float, bool) {
	switch {
	case d.Code == "kDLFloat" && d.Bits == 16:
		return float{5, 10, 15, infinities}, true
	case d.Code == "kDLBfloat" && d.Bits == 16:
		return float{8, 7, floatBias, infinities}, true
	}
	part := floatName.FindStringSubmatch(d.Name)
	if part == nil {
		return float{}, false
	}
	special, known := suffixes[part[4]]
	f := float{exponent: number(part[1]), mantissa: number(part[2]), specials: special}
	f.bias = 1<<(f.exponent-1) - 1
	switch {
	case part[3] != "":
		f.bias = number(part[3])
	case special == unsignedZero:
		f.bias++
	case special == oneNaN && d.Bits < 8:
		// OCP's narrowest microscaling formats have no code for NaN.
		f.specials = numbersOnly
	}
	return f, known && f.fits(d.Bits)
}

// The encoding of float32.
const (
	floatBias     = 127
	floatMantissa = 23
)

// fits reports whether the parts fill the bits, and float32 can represent all numbers.
func (f float) fits(bits int) bool {
	if f.specials == unsigned {
		return bits == 8 && f == float{8, 0, floatBias, unsigned}
	}
	return 1+f.exponent+f.mantissa == bits && f.mantissa > 0 && (f.exponent < 8 || f.bias == floatBias)
}

// number converts digits that a pattern has matched.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func (f float) largest() float64 {
	top := 1<<f.exponent - 1 // exponent of the largest number, with its bias
	missing := 1             // in the last place, from 2
	switch f.specials {
	case infinities:
		top--
	case unsigned:
		top--
	case oneNaN:
		missing = 2
	}
	return math.Ldexp(2-math.Ldexp(float64(missing), -f.mantissa), top-f.bias)
}

func (f float) smallest() float64 {
	if f.specials == unsigned {
		return math.Ldexp(1, -f.bias)
	}
	return math.Ldexp(1, 1-f.bias-f.mantissa)
}

// The documentation of the conversion of values that an encoding lacks.
var (
	specialCodes = map[specials]string{
		infinities:   "Like IEEE 754, it has infinities and NaNs.",
		oneNaN:       "It has no infinities. In NaN, all bits but the sign are 1.",
		unsignedZero: "It has no infinities and no -0, whose code is NaN.",
		unsigned:     "It has neither signs nor 0. NaN is 0xff.",
		numbersOnly:  "It has neither infinities nor NaN.",
	}
	overflows = map[specials]string{
		infinities:   "Numbers out of range become infinity. NaN remains NaN, with its sign.",
		oneNaN:       "Infinity and numbers out of range become NaN. NaN remains NaN, with its sign.",
		unsignedZero: "Infinity and numbers out of range become NaN. NaN remains NaN; -0 becomes 0.",
		unsigned: "Infinity, 0, negative numbers and numbers that are too large become NaN. NaN remains NaN. " +
			"Positive numbers below the smallest become the smallest.",
		numbersOnly: "Infinity and numbers out of range become the largest number. NaN becomes a zero of the " +
			"opposite sign, as in Python's ml_dtypes.",
	}
)

func (f float) render(out *jen.File, e element) {
	name := e.name()
	comment(out.Group,
		fmt.Sprintf("%s is an element of type %s: %d bits of exponent, %d of mantissa. Its numbers range from %v "+
			"to %v. %s",
			name, e.Name, f.exponent, f.mantissa, decimal(f.smallest()), decimal(f.largest()),
			specialCodes[f.specials]))
	out.Type().Id(name).Add(f.underlying(e))
	encoding := "encodingOf" + name
	out.Var().Id(encoding).Op("=").Id("floatFormat").Values(jen.Dict{
		jen.Id("exponent"): jen.Lit(f.exponent), jen.Id("mantissa"): jen.Lit(f.mantissa),
		jen.Id("bias"): jen.Lit(f.bias), jen.Id("specials"): jen.Id(string(f.specials)),
	})
	f.makers(out, e, encoding)
	code := jen.Uint32().Call(f.code(e))
	comment(out.Group, "Float32 returns the number, which is exact.")
	out.Add(method(name, "Float32")).Params().Float32().Block(jen.Return(f.toFloat32(encoding, code)))
	if e.narrow() {
		bitsMethod(out, name)
	}
	if e.Bits == 16 {
		comment(out.Group, "String returns the fewest digits that identify the number.")
		out.Add(method(name, "String")).Params().String().Block(jen.Return(jen.Id(encoding).Dot("shortest").Call(code)))
	} else {
		comment(out.Group, "String returns the digits of the number as a float32.")
		out.Add(method(name, "String")).Params().String().Block(jen.Return(jen.Qual("fmt",
			"Sprint").Call(jen.Id("x").Dot("Float32").Call())))
	}
	formatMethod(out, name, jen.Id("formatFloat").Call(jen.Id("s"), jen.Id("verb"), jen.Id("x")))
}

// toFloat32 renders the conversion to a float32. It is only a shift if the exponents are those of
// float32.
func (f float) toFloat32(encoding string, code jen.Code) jen.Code {
	if f.specials == infinities && f.exponent == 8 {
		return jen.Qual("math", "Float32frombits").Call(jen.Add(code).Op("<<").Lit(floatMantissa - f.mantissa))
	}
	return jen.Id(encoding).Dot("decode").Call(code)
}

// makers renders the conversions from float32.
func (f float) makers(out *jen.File, e element, encoding string) {
	name := e.name()
	maker := func(suffix string, saturated bool) {
		code := jen.Id(encoding).Dot("encode").Call(jen.Id("v"), jen.Lit(saturated))
		out.Func().Id(name + suffix).Params(jen.Id("v").Float32()).Id(name).Block(jen.Return(f.fromCode(e, code)))
	}
	comment(out.Group,
		fmt.Sprintf("%sFrom rounds to the nearest number, and ties to even. %s", name,
			overflows[f.specials]))
	maker("From", false)
	if f.specials == numbersOnly {
		return // it saturates in any case
	}
	comment(out.Group,
		fmt.Sprintf("%sSaturated is like [%sFrom], but infinity and numbers out of range become the largest number.",
			name, name))
	maker("Saturated", true)
}

func (f float) underlying(e element) jen.Code {
	if e.narrow() {
		return packedStruct()
	}
	return jen.Id(fmt.Sprintf("uint%d", e.Bits))
}

func (f float) code(e element) jen.Code {
	if e.narrow() {
		return jen.Id("x").Dot("bits")
	}
	return jen.Id("x")
}

func (f float) fromCode(e element, code jen.Code) jen.Code {
	if e.narrow() {
		return jen.Id(e.name()).Values(jen.Uint8().Call(code))
	}
	return jen.Id(e.name()).Call(code)
}

// decimal formats a number for readers: 448, or 1.5e-45.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
