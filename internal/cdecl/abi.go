package cdecl

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// ABI contains the facts about a release that a program asserts. Every number is an expression that
// is valid on every platform.
type ABI struct {
	Macros, Flags []Constant
	Enums         []Enum
	Structs       []Struct
	Types         []Named // aliases and callbacks
}

// Constant is a name and its value.
type Constant struct{ Name, Value string }

// Named is a name and its type.
type Named struct{ Name, Type string }

// Enum is an enumeration, with its underlying type in C++ if that is fixed.
type Enum struct {
	Name   string
	Width  int
	Fixed  string
	Values []Constant
}

// Struct is a struct, with its type as C spells it at file scope.
type Struct struct {
	Name, Type  string
	Align, Size string
	Fields      []Field
}

// Field is a field of a struct.
type Field struct{ Name, Type, Size, Offset string }

// ABIOf returns the facts about a release as expressions in a language, with the given units.
func ABIOf(r *spec.Release, lang layout.Lang, units Units) *ABI {
	a, speller := &ABI{}, Of(r)
	for _, d := range r.Decls {
		a.add(speller, d)
	}
	for i, e := range layout.Of(r, layout.LP64, lang).Enums {
		a.Enums[i].Width = e.Size
	}
	for _, s := range layout.Formulas(r) {
		a.Structs = append(a.Structs, speller.structOf(s, units))
	}
	return a
}

func (a *ABI) add(s Speller, d spec.Decl) {
	switch d := d.(type) {
	case *spec.Macro:
		a.Macros = append(a.Macros, Constant{d.Name, fmt.Sprint(d.Value)})
	case *spec.Flag:
		a.Flags = append(a.Flags, Constant{d.Name, fmt.Sprint(d.Value())})
	case *spec.Enum:
		a.Enums = append(a.Enums, enumOf(d))
	case *spec.Alias:
		a.Types = append(a.Types, Named{d.Name, s.Alias(d)})
	case *spec.Callback:
		t := s.Type(spec.Type{Kind: spec.Function, Func: &d.Func})
		a.Types = append(a.Types, Named{d.Name, cformat.Pointers(t)})
	}
}

func enumOf(d *spec.Enum) Enum {
	e := Enum{Name: d.Name}
	if d.CxxUnderlying != "" {
		e.Fixed = Builtin(d.CxxUnderlying)
	}
	for _, value := range d.Values {
		e.Values = append(e.Values, Constant{value.Name, fmt.Sprint(value.Value)})
	}
	return e
}

func (s Speller) structOf(f *layout.FormulaStruct, units Units) Struct {
	out := Struct{Name: f.Name, Type: s.Name(f.Name), Align: units.align(f.Align), Size: s.Formula(f.Size, units)}
	for _, field := range f.Fields {
		out.Fields = append(out.Fields, Field{field.Name, cformat.Pointers(s.Type(field.Type)),
			s.Formula(field.Size, units), s.Formula(field.Offset, units)})
	}
	return out
}
