package golang

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// native are the Go types of elements by the kind of number and the bits. If there are several,
// elements are read as the first one.
var native = map[string]map[int][]string{
	"int":     {8: {"int8"}, 16: {"int16"}, 32: {"int32"}, 64: {"int64", "int"}},
	"uint":    {8: {"uint8"}, 16: {"uint16"}, 32: {"uint32"}, 64: {"uint64", "uint", "uintptr"}},
	"float":   {32: {"float32"}, 64: {"float64"}},
	"complex": {64: {"complex64"}, 128: {"complex128"}},
}

// nativeTypes returns the Go types of a data type's elements. It returns none if the package needs
// its own type.
func (b *binding) nativeTypes(d spec.DType) []string {
	code := b.release.CodeOf(d)
	if code.Part != "" && b.release.Rule(code.Part).Native == spec.NativeFloat {
		return native["complex"][d.Bits]
	}
	return native[code.Native][d.Bits]
}

// element is a data type with the Go types of its elements.
type element struct {
	spec.DType
	types []string // elements are read as the first one
	own   own      // nil for Go's own types
}

// own is a type of the package for elements without a Go type.
type own interface {
	// render writes the type and its methods.
	render(f *jen.File, e element)
}

func (e element) name() string { return e.types[0] }

// byteBits is the width of the narrowest Go type. The spec decides which elements are packed.
const byteBits = 8

// narrow reports whether an element is narrower than a byte, and therefore a struct in Go.
func (e element) narrow() bool { return e.Bits < byteBits }

// elements returns the data types with a Go type, in the order of the spec. A vendor's data type
// may have none: its tensors can be exchanged but not read.
func (b *binding) elements() []element {
	floats := map[string]bool{} // the names of the short floats before
	var out []element
	for _, d := range b.release.DTypes {
		e := element{DType: d, types: b.nativeTypes(d)}
		if e.types == nil {
			e.own = b.ownType(d, floats)
			e.types = []string{strings.TrimPrefix(dtype(d.Name), "DType")}
		}
		if d.Lanes != 1 || e.own == nil && b.nativeTypes(d) == nil {
			continue
		}
		if b.release.CodeOf(d).Native == spec.NativeBool {
			e.types = append(e.types, "bool")
		}
		if _, ok := e.own.(float); ok {
			floats[e.name()] = true
		}
		out = append(out, e)
	}
	return out
}

// ownType returns the package's type for a data type, or nil if there is none.
func (b *binding) ownType(d spec.DType, floats map[string]bool) own {
	code := b.release.CodeOf(d)
	switch {
	case code.Native == spec.NativeBool && d.Bits == 8:
		return truth{}
	case (code.Native == spec.NativeInt || code.Native == spec.NativeUint) && d.Bits < byteBits:
		return narrowInt{signed: code.Native == spec.NativeInt}
	case code.Part != "":
		if half := b.half(d); floats[half] {
			return pair{of: half}
		}
		return nil
	}
	if f, ok := floatOf(d); ok {
		return f
	}
	return nil
}

// half returns the Go type of both halves of a data type's elements, or "".
func (b *binding) half(d spec.DType) string {
	half, ok := b.release.PartOf(d)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(dtype(half.Name), "DType")
}

// elementTypes renders the types of elements, their constraints, and the mapping to data types.
func (b *binding) elementTypes(f *jen.File) {
	all := b.elements()
	b.constraints(f, all)
	b.dataTypeOf(f, all)
	b.loads(f, all)
	for _, e := range all {
		if e.own != nil {
			e.own.render(f, e)
		}
	}
}

// constraints renders the interfaces of generic functions. An own type made of
// an integer satisfies Element by the integer.
func (b *binding) constraints(f *jen.File, all []element) {
	var wide, narrow, floats []jen.Code
	for _, e := range all {
		for _, name := range e.types {
			if e.own == nil || name == "bool" {
				wide = append(wide, jen.Op("~").Id(name))
			}
		}
		if _, isPair := e.own.(pair); isPair {
			wide = append(wide, jen.Id(e.name()))
		}
		if _, isFloat := e.own.(float); isFloat {
			floats = append(floats, jen.Id(e.name()))
		}
		if e.narrow() {
			narrow = append(narrow, jen.Id(e.name()))
		}
	}
	comment(f.Group,
		"Element is a Go type whose values have the memory layout of a tensor's elements: Go's numbers and bool, "+
			"and the types of this package for numbers that Go lacks. A type that is defined from a Go type, such as "+
			"type Celsius float32, is accepted too. A type that is defined from a type of this package counts as its "+
			"underlying integer.")
	union(f, "Element", wide)
	comment(f.Group,
		"Narrow is a type of elements narrower than a byte. They are packed in memory, so no Go pointer can refer "+
			"to one; [PackedData] and [At] read them.")
	union(f, "Narrow", narrow, jen.Comment("Bits returns the code, in the lowest bits."),
		jen.Id("Bits").Params().Uint8())
	comment(f.Group, "Scalar is a type of elements of any kind.")
	union(f, "Scalar", append([]jen.Code{jen.Id("Element")}, narrow...))
	comment(f.Group,
		"ShortFloat is a float of 16 bits or fewer. Each has a function that converts a float32, such as "+
			"[Float16From].")
	union(f, "ShortFloat", floats, jen.Qual("fmt", "Stringer"),
		jen.Comment("Float32 returns the number, which is exact."), jen.Id("Float32").Params().Float32())
}

// perLine is the number of types on a line of a union.
const perLine = 6

// union renders an interface of types, if it has members, and methods.
func union(f *jen.File, name string, members []jen.Code, methods ...jen.Code) {
	f.Type().Id(name).InterfaceFunc(func(g *jen.Group) {
		types := g.Null()
		for i, m := range members {
			if i > 0 {
				types.Op("|")
			}
			if i > 0 && i%perLine == 0 {
				types.Line()
			}
			types.Add(m)
		}
		for _, m := range methods {
			g.Add(m)
		}
	})
}

// shared are the kinds that also underlie types of the package, so that the kind alone does not
// determine the data type.
var shared = map[string]bool{"uint8": true, "uint16": true}

// dataTypeOf renders the mapping from a Go type to its data type. For most types, the kind
// determines the data type, through a table that [Data] reads without a call.
func (b *binding) dataTypeOf(f *jen.File, all []element) {
	kind := jen.Qual("reflect", "TypeOf").Call(jen.Id("none")).Dot("Kind").Call()
	comment(f.Group,
		"DataTypeOf returns the data type with the layout of T. An int or uint is 64 bits wide: this package "+
			"exists on 64-bit platforms only.")
	f.Func().Id("DataTypeOf").Types(jen.Id("T").Id("Scalar")).Params().Id(b.typeName(dtypeStruct)).Block(
		jen.Var().Id("none").Id("T"),
		jen.Id("kind").Op(":=").Add(kind),
		jen.If(jen.Id("plain").Op(":=").Id("dataTypeOfKind").Index(jen.Id("kind").Op("%").Lit(kinds)),
			jen.Id("plain").Dot("Lanes").Op("!=").Lit(0)).
			Block(jen.Return(jen.Id("plain"))),
		jen.Switch(jen.Any().Call(jen.Id("none")).Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, e := range all {
				if e.own != nil {
					g.Case(jen.Id(e.name())).Block(jen.Return(jen.Id(dtype(e.Name))))
				}
			}
		}),
		jen.If(jen.Id("kind").Op("==").Qual("reflect", "Uint8")).Block(jen.Return(jen.Id("DTypeUint8"))),
		jen.Return(jen.Id("DTypeUint16")),
	)
	comment(f.Group,
		"dataTypeOfKind maps the kinds of Go types to data types, except kinds that underlie types of this package. "+
			"It has room for all kinds, so that no index is out of range.")
	f.Var().Id("dataTypeOfKind").Op("=").Index(jen.Lit(kinds)).Id(b.typeName(dtypeStruct)).
		Values(jen.DictFunc(func(d jen.Dict) {
			for _, e := range all {
				for _, name := range e.types {
					if (e.own == nil || name == "bool") && !shared[name] {
						d[jen.Qual("reflect", strings.ToUpper(name[:1])+name[1:])] = b.dtypeFields(e.DType)
					}
				}
			}
		}))
}

// kinds is a power of two above all values of reflect.Kind.
const kinds = 32

// loads renders the mapping from a data type to a Go value, for callers that determine the type at
// run time.
func (b *binding) loads(f *jen.File, all []element) {
	comment(f.Group, "value creates an element from its bytes; nil for a data type that has no Go type.")
	f.Func().Params(jen.Id("t").Id(b.typeName(dtypeStruct))).Id("value").Params(jen.Id("bytes").Index().Byte()).
		Any().Block(
		jen.Switch(jen.Id("t")).BlockFunc(func(g *jen.Group) {
			for _, e := range all {
				g.Case(jen.Id(dtype(e.Name))).
					Block(jen.Return(jen.Id("load").Types(jen.Id(e.name())).Call(jen.Id("bytes"))))
			}
		}),
		jen.Return(jen.Nil()),
	)
}
