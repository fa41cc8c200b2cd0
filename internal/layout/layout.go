// Package layout computes the layout of a release's structs under each data model, by the rules of
// the C ABI. No other package computes sizes. The package reads no file and runs no compiler.
package layout

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Table is the layout of one release under one data model and language.
type Table struct {
	Release *spec.Release // what was laid out; read-only
	Model   Model
	Lang    Lang
	Structs []Struct // in declaration order
	Enums   []Enum   // in declaration order
}

// Struct is one struct; all numbers are bytes.
type Struct struct {
	Name   string
	Size   int
	Align  int
	Fields []Field // in declaration order
	Holes  []Hole  // padding, by offset; the last one may be at the end
}

// Field is one member; all numbers are bytes.
type Field struct {
	Name   string
	Type   spec.Type
	Offset int
	Size   int
	Align  int
}

// Hole is padding that no field covers.
type Hole struct {
	Offset int
	Size   int
}

// Enum is the width and signedness of an enum.
type Enum struct {
	Name   string
	Size   int
	Align  int
	Signed bool
}

// Lang is the language whose rules apply. Only enums differ: C++ may fix their underlying type, and
// C before C23 may not.
type Lang int

// The languages.
const (
	C Lang = iota
	CXX
)

// String returns the name in messages and tables.
func (l Lang) String() string {
	if l == CXX {
		return "C++"
	}
	return "C"
}

// Of computes the layout of every struct and enum of a release. It never fails: types that the spec
// rejects (an unknown type, a struct inside itself) have size 0.
func Of(r *spec.Release, m Model, lang Lang) *Table {
	c := newCalc(r, m, lang)
	t := &Table{Release: r, Model: m, Lang: lang}
	for _, e := range spec.Of[*spec.Enum](r) {
		t.Enums = append(t.Enums, c.enum(e))
	}
	for _, s := range spec.Of[*spec.Struct](r) {
		t.Structs = append(t.Structs, c.structure(s))
	}
	return t
}

// Struct returns the struct of that name, and whether there is one.
func (t *Table) Struct(name string) (Struct, bool) {
	i := slices.IndexFunc(t.Structs, func(s Struct) bool { return s.Name == name })
	if i < 0 {
		return Struct{}, false
	}
	return t.Structs[i], true
}

// Enum returns the enum of that name, and whether there is one.
func (t *Table) Enum(name string) (Enum, bool) {
	i := slices.IndexFunc(t.Enums, func(e Enum) bool { return e.Name == name })
	if i < 0 {
		return Enum{}, false
	}
	return t.Enums[i], true
}

// Underlying resolves aliases.
func (t *Table) Underlying(ft spec.Type) spec.Type {
	for range t.Release.Decls {
		a := spec.Find[*spec.Alias](t.Release, ft.Name)
		if ft.Kind != spec.Named || a == nil {
			return ft
		}
		ft = target(a)
	}
	return ft
}
