package header

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// check is what templates/c/abi_check.h.tmpl shows. Every number in it is an
// expression of C that holds on every target.
type check struct {
	Version string
	Macros  []checkedNumber
	Flags   []checkedNumber
	Enums   []checkedEnum
	Structs []checkedStruct
	Types   []checkedType // aliases and callbacks
}

type checkedNumber struct{ Name, Value string }

type checkedEnum struct {
	Name   string
	Width  int
	Fixed  string // the underlying type in C++, or ""
	Values []checkedNumber
}

type checkedStruct struct {
	Name   string
	Type   string // as C spells it at file scope
	Align  string
	Size   string
	Fields []string // the arguments of DLPACKGEN_ABI_FIELD
}

type checkedType struct{ Name, Type string }

func viewCheck(r *spec.Release) check {
	v := check{Version: r.Version}
	for _, d := range r.Decls {
		v.add(cdecl.Of(r), d)
	}
	for i, e := range layout.Of(r, layout.LP64, layout.C).Enums {
		v.Enums[i].Width = e.Size
	}
	for _, s := range layout.Formulas(r) {
		v.Structs = append(v.Structs, checkStruct(cdecl.Of(r), s))
	}
	return v
}

func (v *check) add(speller cdecl.Speller, d spec.Decl) {
	switch d := d.(type) {
	case *spec.Macro:
		v.Macros = append(v.Macros, checkedNumber{d.Name, fmt.Sprint(d.Value)})
	case *spec.Flag:
		v.Flags = append(v.Flags, checkedNumber{d.Name, fmt.Sprint(d.Value())})
	case *spec.Enum:
		v.Enums = append(v.Enums, checkEnum(d))
	case *spec.Alias:
		v.Types = append(v.Types, checkedType{d.Name, aliasTarget(speller, d)})
	case *spec.Callback:
		signature := speller.Type(spec.Type{Kind: spec.Function, Func: &d.Func})
		v.Types = append(v.Types, checkedType{d.Name, signature})
	}
}

func checkEnum(d *spec.Enum) checkedEnum {
	e := checkedEnum{Name: d.Name}
	if d.CxxUnderlying != "" {
		e.Fixed = cdecl.Builtin(d.CxxUnderlying)
	}
	for _, value := range d.Values {
		e.Values = append(e.Values, checkedNumber{value.Name, fmt.Sprint(value.Value)})
	}
	return e
}

func checkStruct(speller cdecl.Speller, s *layout.FormulaStruct) checkedStruct {
	var rows [][]string
	for _, f := range s.Fields {
		rows = append(rows, []string{speller.Name(s.Name), f.Name, speller.Type(f.Type), speller.Formula(f.Size,
			units), speller.Formula(f.Offset, units)})
	}
	return checkedStruct{
		Name:   s.Name,
		Type:   speller.Name(s.Name),
		Align:  units.Align[s.Align],
		Size:   speller.Formula(s.Size, units),
		Fields: columns(rows),
	}
}

// columns joins the cells of each row by commas, so that they stand below each
// other.
func columns(rows [][]string) []string {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row[:len(row)-1] {
			fmt.Fprintf(&b, "%-*s", widths[i]+len(", "), cell+",")
		}
		lines = append(lines, b.String()+row[len(row)-1])
	}
	return lines
}

// units are macros of abi_check.h.
var units = cdecl.Units{
	Pointer: "DLPACKGEN_ABI_PTR",
	Up:      "DLPACKGEN_ABI_UP",
	Align: map[layout.Unit]string{
		layout.Align1:       "1",
		layout.Align2:       "2",
		layout.Align4:       "4",
		layout.AlignPointer: "DLPACKGEN_ABI_PTR",
		layout.AlignInt64:   "DLPACKGEN_ABI_I64",
	},
}
