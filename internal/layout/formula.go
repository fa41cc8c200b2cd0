package layout

import (
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Unit is an alignment under all data models at once. Units are ordered: each is a multiple of
// those before it, since no model aligns a 64-bit integer to less than a pointer.
type Unit int

// The units. AlignPointer and AlignInt64 are 4 or 8, by the model.
const (
	Align1 Unit = iota
	Align2
	Align4
	AlignPointer
	AlignInt64
)

// worst returns the largest value of the unit under any model.
func (u Unit) worst() int { return 1 << min(u, AlignPointer) }

// Formula is a size or an offset in bytes under every data model except short enums: Const +
// Pointers * sizeof(void *) + the size of each struct in Structs + Rounded. DLTensor.byte_offset is
// at 16 + 3 * sizeof(void *), rounded up to AlignInt64.
type Formula struct {
	Const    int
	Pointers int
	Structs  []*FormulaStruct // one entry per use
	Rounded  *Rounded         // nil when nothing is rounded
}

// Rounded is a formula rounded up to an alignment.
type Rounded struct {
	Of Formula
	To Unit
}

// FormulaStruct is the layout of a struct without a model.
type FormulaStruct struct {
	Name   string
	Size   Formula
	Align  Unit
	Fields []FormulaField // in declaration order
}

// FormulaField is one member.
type FormulaField struct {
	Name   string
	Type   spec.Type
	Offset Formula
	Size   Formula
}

// Formulas derives the layout of every struct of a release, in declaration
// order. Enums without a fixed type are taken as wide as int.
func Formulas(r *spec.Release) []*FormulaStruct {
	d := &derivation{release: r, known: map[string]*FormulaStruct{}}
	var out []*FormulaStruct
	for _, s := range spec.Of[*spec.Struct](r) {
		out = append(out, d.structure(s))
	}
	return out
}

// derivation caches the structs that it has laid out, so that formulas can refer to them by name.
type derivation struct {
	release *spec.Release
	known   map[string]*FormulaStruct
}

func (d *derivation) structure(s *spec.Struct) *FormulaStruct {
	if known, ok := d.known[s.Name]; ok {
		return known
	}
	out := &FormulaStruct{Name: s.Name}
	d.known[s.Name] = out
	var end Formula
	for _, f := range s.Fields {
		size, align := d.extent(f.Type)
		offset := end.roundUp(align)
		out.Fields = append(out.Fields, FormulaField{Name: f.Name, Type: f.Type, Offset: offset, Size: size})
		out.Align = max(out.Align, align)
		end = offset.plus(size)
	}
	out.Size = end.roundUp(out.Align)
	return out
}

func (d *derivation) extent(t spec.Type) (Formula, Unit) {
	switch t.Kind {
	case spec.Named:
		return d.named(t.Name)
	case spec.Builtin:
		return fixed(t.Name)
	default:
		return Formula{Pointers: 1}, AlignPointer
	}
}

func (d *derivation) named(name string) (Formula, Unit) {
	if s := spec.Find[*spec.Struct](d.release, name); s != nil {
		inner := d.structure(s)
		return inner.asField(), inner.Align
	}
	if e := spec.Find[*spec.Enum](d.release, name); e != nil {
		x, _ := LP64.enum(e)
		return integer(x.size)
	}
	if a := spec.Find[*spec.Alias](d.release, name); a != nil {
		return d.alias(a)
	}
	return Formula{Pointers: 1}, AlignPointer
}

// asField returns the size of the struct inside another one: as a sum if it is one, else by name,
// which keeps formulas of nested structs short.
func (s *FormulaStruct) asField() Formula {
	if s.Size.Rounded == nil && s.Size.Structs == nil {
		return s.Size
	}
	return Formula{Structs: []*FormulaStruct{s}}
}

func (d *derivation) alias(a *spec.Alias) (Formula, Unit) {
	if size, unit := fixed(a.Target); size.Const > 0 {
		return size, unit
	}
	return d.named(a.Target)
}

// fixed returns the size of a builtin type, or 0 for any other name.
func fixed(name string) (Formula, Unit) {
	x, _ := LP64.scalar(name)
	return integer(x.size)
}

// integer returns the size of an integer. Only the alignment of 8-byte integers differs between
// models.
func integer(size int) (Formula, Unit) {
	units := map[int]Unit{2: Align2, 4: Align4, 8: AlignInt64}
	return Formula{Const: size}, units[size]
}

// plus adds two formulas. The second one is the size of a field and is not rounded.
func (f Formula) plus(size Formula) Formula {
	f.Const += size.Const
	f.Pointers += size.Pointers
	f.Structs = append(f.Structs[:len(f.Structs):len(f.Structs)], size.Structs...)
	return f
}

// roundUp returns a formula unchanged if it is a multiple of the unit under every model.
func (f Formula) roundUp(u Unit) Formula {
	if f.multipleOf(u) {
		return f
	}
	return Formula{Rounded: &Rounded{Of: f, To: u}}
}

func (f Formula) multipleOf(u Unit) bool {
	for _, s := range f.Structs {
		if s.Align < u {
			return false
		}
	}
	pointers := u < AlignInt64 || f.Pointers%2 == 0
	return pointers && f.Const%u.worst() == 0 && (f.Rounded == nil || f.Rounded.To >= u)
}
