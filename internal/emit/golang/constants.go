package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// constants renders macros, flags, enums and the named data types.
func (b *binding) constants(f *jen.File) {
	b.macros(f)
	b.flags(f)
	for _, e := range spec.Of[*spec.Enum](b.release) {
		b.enum(f, e)
	}
	b.deviceRules(f)
	b.dtypes(f)
	b.elementRules(f)
}

func (b *binding) macros(f *jen.File) {
	comment(f.Group, "The version of DLPack that this package supports, and that exported tensors declare.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, m := range spec.Of[*spec.Macro](b.release) {
			comment(g, m.Doc)
			g.Id(macro(m.Name)).Op("=").Id(fmt.Sprint(m.Value))
		}
	})
}

func (b *binding) flags(f *jen.File) {
	comment(f.Group, "Flags are a producer's declarations about a tensor, one bit each.")
	f.Type().Id(flagsType).Uint64()
	comment(f.Group, "The flags.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, flagDecl := range spec.Of[*spec.Flag](b.release) {
			comment(g, flagDecl.Doc)
			g.Id(flag(flagDecl.Name)).Id(flagsType).Op("=").Lit(1).Op("<<").Lit(int(flagDecl.Bit))
		}
	})
	b.flagsString(f)
}

func (b *binding) flagsString(f *jen.File) {
	comment(f.Group,
		"String returns the names of the set flags, joined by |, and bits without a name as a number; 0 for "+
			"none.")
	f.Func().Params(jen.Id("v").Id(flagsType)).Id("String").Params().String().Block(
		jen.Var().Id("names").Index().String(),
		jen.For(jen.List(jen.Id("_"), jen.Id("known")).Op(":=").Range().Index().Struct(
			jen.Id("flag").Id(flagsType), jen.Id("name").String(),
		).ValuesFunc(func(g *jen.Group) {
			for _, flagDecl := range spec.Of[*spec.Flag](b.release) {
				name := flag(flagDecl.Name)
				g.Values(jen.Id(name), jen.Lit(strings.TrimPrefix(name, "Flag")))
			}
		})).Block(
			jen.If(jen.Id("v").Op("&").Id("known").Dot("flag").Op("!=").Lit(0)).Block(
				jen.Id("names").Op("=").Append(jen.Id("names"), jen.Id("known").Dot("name")),
			),
			jen.Id("v").Op("&^=").Id("known").Dot("flag"),
		),
		jen.If(jen.Id("v").Op("!=").Lit(0).Op("||").Id("names").Op("==").Nil()).Block(
			jen.Id("names").Op("=").Append(jen.Id("names"),
				jen.Qual("strconv", "FormatUint").Call(jen.Uint64().Call(jen.Id("v")), jen.Lit(10))),
		),
		jen.Return(jen.Qual("strings", "Join").Call(jen.Id("names"), jen.Lit("|"))),
	)
}

func (b *binding) enum(f *jen.File, e *spec.Enum) {
	name := b.typeName(e.Name)
	comment(f.Group, fmt.Sprintf("%s It mirrors %s of C, in the width of its field.", sentence(name, e.Doc), e.Name))
	f.Type().Id(name).Id(e.Wire)
	comment(f.Group, fmt.Sprintf("The values of %s in DLPack %s.", name, b.release.Version))
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, v := range e.Values {
			comment(g, v.Doc)
			g.Id(b.enumerator(e, v.Name)).Id(name).Op("=").Id(fmt.Sprint(v.Value))
		}
	})
	b.enumString(f, e)
}

func (b *binding) enumString(f *jen.File, e *spec.Enum) {
	name := b.typeName(e.Name)
	comment(f.Group,
		fmt.Sprintf("String returns the name in C without the prefix kDL, or %s(99) for a number without a name.",
			name))
	f.Func().Params(jen.Id("v").Id(name)).Id("String").Params().String().Block(
		jen.Switch(jen.Id("v")).BlockFunc(func(g *jen.Group) {
			for _, v := range e.Values {
				g.Case(jen.Id(b.enumerator(e, v.Name))).Block(jen.Return(jen.Lit(plainName(v.Name))))
			}
		}),
		jen.Return(jen.Lit(name+"(").Op("+").Qual("strconv", "FormatInt").Call(jen.Int64().Call(jen.Id("v")),
			jen.Lit(10)).Op("+").Lit(")")),
	)
}

// plainName returns an enumerator's name for messages.
func plainName(name string) string { return strings.TrimPrefix(name, "kDL") }
