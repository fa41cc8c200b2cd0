package golang

import (
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// types renders a mirror of each struct, and the aliases.
func (b *binding) types(f *jen.File) {
	for _, s := range spec.Of[*spec.Struct](b.release) {
		comment(f.Group, b.structDoc(s))
		f.Type().Id(b.typeName(s.Name)).StructFunc(func(g *jen.Group) {
			g.Id("_").Qual("structs", "HostLayout")
			for _, field := range s.Fields {
				comment(g, field.Doc)
				g.Id(b.fieldName(s, field.Name)).Add(b.fieldType(s, field))
			}
		})
	}
	for _, a := range spec.Of[*spec.Alias](b.release) {
		comment(f.Group, sentence(b.typeName(a.Name), a.Doc))
		f.Type().Id(b.typeName(a.Name)).Op("=").Id(b.typeName(a.Target))
	}
}

func (b *binding) structDoc(s *spec.Struct) string {
	mirrors := "It mirrors " + s.Name + " of C"
	if b.hasPointers(s) {
		mirrors += ", with a uintptr in place of each pointer"
	}
	return sentence(b.typeName(s.Name), s.Doc) + " " + mirrors + "."
}

// sentence converts a noun phrase of the spec to a Go doc comment.
func sentence(name, doc string) string {
	if len(doc) > 1 && unicode.IsLower(rune(doc[1])) || strings.HasPrefix(doc, "A ") {
		doc = strings.ToLower(doc[:1]) + doc[1:]
	}
	return name + " is " + doc
}

// fieldType returns a type of the same width that is not a Go pointer.
func (b *binding) fieldType(s *spec.Struct, f spec.Field) *jen.Statement {
	if name, ok := typed[s.Name+"."+f.Name]; ok {
		return jen.Id(b.goType(name))
	}
	return b.plainType(f.Type)
}

func (b *binding) plainType(t spec.Type) *jen.Statement {
	switch {
	case b.isPointer(t):
		return jen.Uintptr()
	case t.Kind == spec.Named:
		return jen.Id(b.typeName(t.Name))
	case t.Name == "int":
		return jen.Int32()
	case t.Name == "char":
		return jen.Byte()
	default:
		return jen.Id(t.Name)
	}
}

// goType returns the Go name for an entry of typed.
func (b *binding) goType(name string) string {
	if name == flagsType {
		return name
	}
	return b.typeName(name)
}

// comment writes a doc, if there is one, in lines of readable length. It adds the slashes itself,
// because jennifer does not change a text that begins with // or /*.
func comment(g *jen.Group, text string) {
	for _, line := range emit.Wrap(text, 77) {
		g.Comment("// " + line)
	}
}
