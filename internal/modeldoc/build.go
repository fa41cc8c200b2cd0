package modeldoc

import (
	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// builder builds the document from the layouts of one release under each data model.
type builder struct {
	release *spec.Release
	tables  []*layout.Table
	speller cdecl.Speller
}

func newBuilder(r *spec.Release) *builder {
	b := &builder{release: r, speller: cdecl.Of(r)}
	for _, m := range layout.Models() {
		b.tables = append(b.tables, layout.Of(r, m, layout.C))
	}
	return b
}

func (b *builder) macros() []Macro {
	out := []Macro{}
	for _, m := range spec.Of[*spec.Macro](b.release) {
		out = append(out, Macro{m.Name, m.Doc, m.Literal, m.Value})
	}
	return out
}

func (b *builder) flags() []Flag {
	out := []Flag{}
	for _, f := range spec.Of[*spec.Flag](b.release) {
		out = append(out, Flag{f.Name, f.Doc, f.Bit, f.Value()})
	}
	return out
}

func (b *builder) enums() []Enum {
	out := []Enum{}
	for _, e := range spec.Of[*spec.Enum](b.release) {
		made := Enum{Name: e.Name, Doc: e.Doc, Wire: e.Wire, Underlying: e.CxxUnderlying, Unsigned: e.Unsigned,
			Layout: map[string]Extent{}, Values: []EnumValue{}}
		for _, t := range b.tables {
			laid, _ := t.Enum(e.Name)
			made.Layout[t.Model.Name] = Extent{laid.Size, laid.Align}
		}
		for _, v := range e.Values {
			made.Values = append(made.Values, EnumValue{v.Name, v.Doc, v.Value, device(v.Device), element(v.Element)})
		}
		out = append(out, made)
	}
	return out
}

func device(d *spec.DeviceRule) *Device {
	if d == nil {
		return nil
	}
	return &Device{d.HostReadable, d.Opaque, d.IDZero, d.Streams, d.Memory, d.Of}
}

func element(e *spec.ElementRule) *Element {
	if e == nil {
		return nil
	}
	return &Element{e.Bits, e.Part, e.Native}
}

func (b *builder) structs() []Struct {
	out := []Struct{}
	for _, s := range spec.Of[*spec.Struct](b.release) {
		made := Struct{Name: s.Name, Doc: s.Doc, Tag: s.Tag, Typedef: s.Typedef, Layout: map[string]Extent{},
			Fields: []Field{}}
		for _, t := range b.tables {
			laid, _ := t.Struct(s.Name)
			made.Layout[t.Model.Name] = Extent{laid.Size, laid.Align}
		}
		for i, f := range s.Fields {
			made.Fields = append(made.Fields, b.field(s.Name, i, f))
		}
		out = append(out, made)
	}
	return out
}

func (b *builder) field(of string, i int, f spec.Field) Field {
	made := Field{Name: f.Name, Doc: f.Doc, Type: b.typeIn(of, f.Type), Null: string(f.Null), NullBefore: f.NullBefore,
		Owner: f.Owner, Offset: map[string]int{}, Size: map[string]int{}}
	for _, t := range b.tables {
		laid, _ := t.Struct(of)
		made.Offset[t.Model.Name], made.Size[t.Model.Name] = laid.Fields[i].Offset, laid.Fields[i].Size
	}
	return made
}

func (b *builder) typeIn(of string, t spec.Type) Type {
	speller := b.speller
	if of != "" {
		speller = speller.In(of)
	}
	made := Type{Kind: kinds[t.Kind], Name: t.Name, Const: t.Const, Params: []Param{}, C: speller.Type(t)}
	if t.Elem != nil {
		to := b.typeIn(of, *t.Elem)
		made.To = &to
	}
	if t.Func != nil {
		returns := b.typeIn(of, t.Func.Returns)
		made.Returns, made.Params = &returns, b.params(of, t.Func)
	}
	return made
}

var kinds = map[spec.Kind]string{spec.Builtin: "builtin", spec.Named: "named", spec.Pointer: "pointer",
	spec.Function: "function"}

func (b *builder) params(of string, f *spec.Func) []Param {
	out := []Param{}
	for _, p := range f.Params {
		out = append(out, Param{p.Name, b.typeIn(of, p.Type)})
	}
	return out
}

func (b *builder) aliases() []Alias {
	out := []Alias{}
	for _, a := range spec.Of[*spec.Alias](b.release) {
		out = append(out, Alias{a.Name, a.Doc, a.Target})
	}
	return out
}

func (b *builder) callbacks() []Callback {
	out := []Callback{}
	for _, c := range spec.Of[*spec.Callback](b.release) {
		out = append(out, Callback{c.Name, c.Doc, b.typeIn("", c.Func.Returns), b.params("", &c.Func)})
	}
	return out
}
