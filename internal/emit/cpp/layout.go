package cpp

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// abi is what templates/cpp/layout.hpp.tmpl shows. Every number in it is an
// expression that holds on every target.
type abi struct {
	names
	Flags   []number
	Enums   []enum
	Structs []structure
	Types   []named // aliases and callbacks
}

type enum struct {
	Name   string
	Width  int
	Fixed  string // the underlying type, or ""
	Values []number
}

type structure struct {
	Name   string
	Align  string
	Size   string
	Fields []field
}

type field struct{ Name, Type, Size, Offset string }

type named struct{ Name, Type string }

// units are constants and functions of layout.hpp.
var units = cdecl.Units{
	Pointer: "pointer",
	Up:      "up",
	Align: map[layout.Unit]string{
		layout.Align1:       "1",
		layout.Align2:       "2",
		layout.Align4:       "4",
		layout.AlignPointer: "pointer",
		layout.AlignInt64:   "int64",
	},
}

func viewLayout(r *spec.Release) abi {
	v := abi{names: namesOf(r)}
	speller := cdecl.Of(r)
	for _, d := range r.Decls {
		v.add(speller, d)
	}
	for i, e := range layout.Of(r, layout.LP64, layout.CXX).Enums {
		v.Enums[i].Width = e.Size
	}
	for _, s := range layout.Formulas(r) {
		out := structure{Name: s.Name, Align: units.Align[s.Align], Size: speller.Formula(s.Size, units)}
		for _, f := range s.Fields {
			out.Fields = append(out.Fields,
				field{f.Name, speller.Type(f.Type), speller.Formula(f.Size, units),
					speller.Formula(f.Offset, units)})
		}
		v.Structs = append(v.Structs, out)
	}
	return v
}

func (v *abi) add(speller cdecl.Speller, d spec.Decl) {
	switch d := d.(type) {
	case *spec.Flag:
		v.Flags = append(v.Flags, number{d.Name, fmt.Sprint(d.Value())})
	case *spec.Enum:
		v.Enums = append(v.Enums, viewEnum(d))
	case *spec.Alias:
		target := spec.Type{Kind: spec.Builtin, Name: d.Target}
		if !spec.IsBuiltin(d.Target) {
			target.Kind = spec.Named
		}
		v.Types = append(v.Types, named{d.Name, speller.Type(target)})
	case *spec.Callback:
		v.Types = append(v.Types, named{d.Name, speller.Type(spec.Type{Kind: spec.Function, Func: &d.Func})})
	}
}

func viewEnum(d *spec.Enum) enum {
	e := enum{Name: d.Name}
	if d.CxxUnderlying != "" {
		e.Fixed = cdecl.Builtin(d.CxxUnderlying)
	}
	for _, value := range d.Values {
		e.Values = append(e.Values, number{value.Name, fmt.Sprint(value.Value)})
	}
	return e
}
