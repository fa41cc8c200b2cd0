package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// The package's types that are not floats.
type (
	truth     struct{}              // a byte that may be any
	narrowInt struct{ signed bool } // an integer below a byte
	pair      struct{ of string }   // a complex number of two short floats
)

func (truth) render(f *jen.File, e element) {
	name := e.name()
	comment(f.Group,
		name+
			" is a boolean in a byte: 0 is false, any other value is true. Unlike a Go bool, it may have values other "+
			"than 0 and 1, which some producers write.")
	f.Type().Id(name).Uint8()
	comment(f.Group, name+"From returns 1 or 0.")
	f.Func().Id(name+"From").Params(jen.Id("v").Bool()).Id(name).Block(
		jen.If(jen.Id("v")).Block(jen.Return(jen.Lit(1))),
		jen.Return(jen.Lit(0)),
	)
	comment(f.Group, "Value reports whether it is true.")
	f.Add(method(name, "Value")).Params().Bool().Block(jen.Return(jen.Id("x").Op("!=").Lit(0)))
	formatAs(f, name, "Value", "a bool")
}

func (n narrowInt) render(f *jen.File, e element) {
	name, getter, goType := e.name(), "Uint", jen.Uint()
	low, high := 0, 1<<e.Bits-1
	unused := 8 - e.Bits
	value := jen.Uint().Call(jen.Id("x").Dot("bits"))
	if n.signed {
		getter, goType = "Int", jen.Int()
		low, high = -1<<(e.Bits-1), 1<<(e.Bits-1)-1
		value = jen.Int().Call(jen.Int8().Call(jen.Id("x").Dot("bits").Op("<<").Lit(unused)).Op(">>").Lit(unused))
	}
	comment(f.Group, fmt.Sprintf("%s is an element of type %s: an integer from %d to %d.", name, e.Name, low, high))
	f.Type().Id(name).Add(packedStruct())
	comment(f.Group, fmt.Sprintf("%sFrom keeps the lowest %d bits of v, as conversions between Go's integers do.",
		name, e.Bits))
	f.Func().Id(name + "From").Params(jen.Id("v").Add(goType)).Id(name).Block(
		jen.Return(jen.Id(name).Values(jen.Uint8().Call(jen.Id("v")).Op("&").Lit(1<<e.Bits - 1))))
	comment(f.Group, getter+" returns the integer.")
	f.Add(method(name, getter)).Params().Add(goType).Block(jen.Return(value))
	bitsMethod(f, name)
	formatAs(f, name, getter, "an integer")
}

func (p pair) render(f *jen.File, e element) {
	name := e.name()
	comment(f.Group, fmt.Sprintf("%s is an element of type %s: a complex number of two %s.", name, e.Name, p.of))
	f.Type().Id(name).Struct(jen.List(jen.Id("Real"), jen.Id("Imag")).Id(p.of))
	comment(f.Group, fmt.Sprintf("%sFrom rounds both parts as [%sFrom] does.", name, p.of))
	part := func(of string) jen.Code { return jen.Id(p.of + "From").Call(jen.Id(of).Call(jen.Id("v"))) }
	f.Func().Id(name + "From").Params(jen.Id("v").Complex64()).Id(name).Block(
		jen.Return(jen.Id(name).Values(part("real"), part("imag"))))
	comment(f.Group, "Complex64 returns the number, which is exact.")
	f.Add(method(name, "Complex64")).Params().Complex64().Block(jen.Return(jen.Complex(
		jen.Id("x").Dot("Real").Dot("Float32").Call(), jen.Id("x").Dot("Imag").Dot("Float32").Call(),
	)))
	comment(f.Group, "String returns the fewest digits that identify the parts.")
	f.Add(method(name, "String")).Params().String().Block(jen.Return(jen.Id("complexText").Call(
		jen.Id("x").Dot("Real").Dot("String").Call(), jen.Id("x").Dot("Imag").Dot("String").Call())))
	formatMethod(f, name, jen.Id("formatComplex").Call(jen.Id("s"), jen.Id("verb"), jen.Id("x"),
		jen.Id("x").Dot("Complex64").Call()))
}

func method(of, name string) *jen.Statement {
	return jen.Func().Params(jen.Id("x").Id(of)).Id(name)
}

// packedStruct is the underlying type of packed elements. A struct does not satisfy Element, so a
// slice of packed elements cannot be used as a tensor's memory.
func packedStruct() jen.Code { return jen.Struct(jen.Id("bits").Uint8()) }

func bitsMethod(f *jen.File, of string) {
	comment(f.Group, "Bits returns the code, in the lowest bits. [FromBits] is the inverse.")
	f.Add(method(of, "Bits")).Params().Uint8().Block(jen.Return(jen.Id("x").Dot("bits")))
}

// formatAs renders a method Format that formats another value.
func formatAs(f *jen.File, of, getter, as string) {
	comment(f.Group, "Format accepts every verb for "+as+".")
	f.Add(format(of)).Block(jen.Qual("fmt", "Fprintf").Call(jen.Id("s"),
		jen.Qual("fmt", "FormatString").Call(jen.Id("s"), jen.Id("verb")), jen.Id("x").Dot(getter).Call()))
}

func formatMethod(f *jen.File, of string, body jen.Code) {
	comment(f.Group, "Format accepts every verb for Go's numbers; %v and %s format the result of String.")
	f.Add(format(of)).Block(body)
}

func format(of string) *jen.Statement {
	return method(of, "Format").Params(jen.Id("s").Qual("fmt", "State"), jen.Id("verb").Rune())
}
