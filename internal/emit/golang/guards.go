package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// guards renders compile-time tests of the Go side: the mirrors must have the spec's layout, and
// the constants the spec's values.
func (b *binding) guards(f *jen.File) {
	guard(f, "The mirrors and constants of this package are those of the spec.", func(g *jen.Group) {
		for _, s := range b.table.Structs {
			b.goLayout(g, s)
		}
		for _, e := range b.table.Enums {
			want(g, size(b.typeName(e.Name)+"(0)"), b.wireSize(e.Name))
		}
		b.values(g, func(goName, _ string) jen.Code { return jen.Id(goName) })
	})
}

// goLayout renders the guards of one mirror: its size and alignment, and the offset and width of
// each field.
func (b *binding) goLayout(g *jen.Group, s layout.Struct) {
	decl := spec.Find[*spec.Struct](b.release, s.Name)
	value := b.typeName(s.Name) + "{}"
	want(g, size(value), s.Size)
	want(g, unsafely("Alignof", value), s.Align)
	for _, f := range s.Fields {
		field := value + "." + b.fieldName(decl, f.Name)
		want(g, unsafely("Offsetof", field), f.Offset)
		want(g, size(field), f.Size)
	}
}

// wireSize returns the width of an enum's Go type, which is that of the field and may be less than
// the enum's width in C.
func (b *binding) wireSize(enum string) int {
	wire := spec.Find[*spec.Enum](b.release, enum).Wire
	return map[string]int{"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
		"uint64": 8}[wire]
}

// guardsC renders compile-time tests of the C side, with probes that the C compiler evaluates. The
// Go types that cgo derives from the structs would hide a wrong alignment.
func (b *binding) guardsC(f *jen.File) {
	f.CgoPreamble(b.probes())
	probe := func(kind string, names ...string) jen.Code {
		return jen.Qual("C", b.probe(kind, names...))
	}
	guard(f, "dlpack.h, as this C compiler sees it, has the layout and the values of the spec.", func(g *jen.Group) {
		for _, s := range b.table.Structs {
			want(g, probe("sizeof", s.Name), s.Size)
			want(g, probe("alignof", s.Name), s.Align)
			for _, f := range s.Fields {
				want(g, probe("offsetof", s.Name, f.Name), f.Offset)
				want(g, probe("widthof", s.Name, f.Name), f.Size)
			}
		}
		for _, e := range b.table.Enums {
			want(g, probe("sizeof", e.Name), e.Size)
		}
		b.values(g, func(_, cName string) jen.Code { return jen.Qual("C", cName) })
	})
}

// values renders the guards of each macro, flag and enumerator.
func (b *binding) values(g *jen.Group, spell func(goName, cName string) jen.Code) {
	for _, m := range spec.Of[*spec.Macro](b.release) {
		want(g, spell(macro(m.Name), m.Name), int(m.Value))
	}
	for _, fl := range spec.Of[*spec.Flag](b.release) {
		want(g, spell(flag(fl.Name), fl.Name), int(fl.Value()))
	}
	for _, e := range spec.Of[*spec.Enum](b.release) {
		for _, v := range e.Values {
			want(g, spell(b.enumerator(e, v.Name), v.Name), int(v.Value))
		}
	}
}

// probe returns the name of an enumerator in the preamble of the guards.
func (b *binding) probe(kind string, names ...string) string {
	return b.prefix + kind + "_" + strings.Join(names, "_")
}

// probes returns the preamble, with one enumerator for each number of the layout.
func (b *binding) probes() string {
	var out strings.Builder
	out.WriteString("#include <stddef.h>\n#include \"dlpack.h\"\n\nenum {\n")
	line := func(name, format string, args ...any) {
		value, apart := fmt.Sprintf(format, args...), " "
		if len("    ")+len(name)+len(" = ")+len(value)+len(",") > maxColumns {
			apart = "\n\t\t"
		}
		fmt.Fprintf(&out, "\t%s =%s%s,\n", name, apart, value)
	}
	for _, s := range b.table.Structs {
		c := b.c.Name(s.Name)
		line(b.probe("sizeof", s.Name), "sizeof(%s)", c)
		line(b.probe("alignof", s.Name), "_Alignof(%s)", c)
		for _, f := range s.Fields {
			line(b.probe("offsetof", s.Name, f.Name), "offsetof(%s, %s)", c, f.Name)
			line(b.probe("widthof", s.Name, f.Name), "sizeof(((%s *)0)->%s)", c, f.Name)
		}
	}
	for _, e := range b.table.Enums {
		line(b.probe("sizeof", e.Name), "sizeof(%s)", e.Name)
	}
	out.WriteString("};")
	return out.String()
}

// guard renders a function that is only compiled and never called.
func guard(f *jen.File, what string, fill func(*jen.Group)) {
	comment(f.Group,
		what+
			` If the compiler reports "out of bounds", "must not be negative" or "overflows" here, a value differs from `+
			`the spec's: the files in this folder come from different runs or were edited, or CGO_CFLAGS change the `+
			`layout of structs. To generate them again, run: dlpackgen generate.`)
	f.Func().Id("_").Params().BlockFunc(func(g *jen.Group) {
		g.Var().Id("x").Index(jen.Lit(1)).Struct()
		fill(g)
	})
}

// want renders code that compiles only if the constant has that value.
func want(g *jen.Group, constant jen.Code, number int) {
	g.Id("_").Op("=").Id("x").Index(jen.Add(constant).Op("-").Lit(number))
}

func size(of string) jen.Code { return unsafely("Sizeof", of) }

func unsafely(function, argument string) jen.Code {
	return jen.Qual("unsafe", function).Call(jen.Id(argument))
}
