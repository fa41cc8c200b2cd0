package draw

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// The column of a model: two right-aligned numbers under its name.
const columnWidth = 13

// Text returns the named structs and enums, or all without names, as a table with the models side
// by side. The tables must be of one release and one language. Numbers come first, so that a long
// declaration does not move the columns.
func Text(tables []*layout.Table, names []string) string {
	shown := views(tables, names)
	if len(shown) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "DLPack %s, %s; offsets and sizes in bytes\n\n", shown[0].Release.Version, shown[0].Lang)
	for _, t := range shown {
		fmt.Fprintf(&b, "  %-11s  %s\n", t.Model.Name, t.Model.Doc)
	}
	if len(shown[0].enums) > 0 {
		writeEnums(&b, shown)
	}
	for i := range shown[0].structs {
		writeStruct(&b, shown, i)
	}
	return b.String()
}

func writeEnums(b *strings.Builder, shown []view) {
	b.WriteString("\nenums\n")
	writeRow(b, shown, "", func(v view) string { return v.Model.Name })
	writeRow(b, shown, "", func(view) string { return words("size", "sign") })
	for i := range shown[0].enums {
		writeRow(b, shown, shown[0].enums[i].Name, func(v view) string {
			return words(v.enums[i].Size, sign(v.enums[i]))
		})
	}
}

func writeStruct(b *strings.Builder, shown []view, index int) {
	first := shown[0].structs[index]
	at := func(v view) layout.Struct { return v.structs[index] }
	fmt.Fprintf(b, "\n%s\n", first.Name)
	writeRow(b, shown, "", func(v view) string { return v.Model.Name })
	writeRow(b, shown, "", func(view) string { return numbers("offset", "size") })
	spell := cdecl.Of(shown[0].Release).In(first.Name)
	for i, f := range first.Fields {
		writeRow(b, shown, spell.Declare(f.Type, f.Name), func(v view) string {
			return numbers(at(v).Fields[i].Offset, at(v).Fields[i].Size)
		})
		writeHoles(b, shown, func(v view) (layout.Hole, bool) { return holeAfter(at(v), i) })
	}
	writeRow(b, shown, "size", func(v view) string { return numbers("", at(v).Size) })
	writeRow(b, shown, "alignment", func(v view) string { return numbers("", at(v).Align) })
}

// writeHoles writes a row for padding in at least one model.
func writeHoles(b *strings.Builder, shown []view, find func(view) (layout.Hole, bool)) {
	some := false
	for _, v := range shown {
		_, ok := find(v)
		some = some || ok
	}
	if !some {
		return
	}
	writeRow(b, shown, "(hole)", func(v view) string {
		if h, ok := find(v); ok {
			return numbers(h.Offset, h.Size)
		}
		return numbers("-", "-")
	})
}

// holeAfter returns the padding after a field.
func holeAfter(s layout.Struct, field int) (layout.Hole, bool) {
	end := s.Fields[field].Offset + s.Fields[field].Size
	for _, h := range s.Holes {
		if h.Offset == end {
			return h, true
		}
	}
	return layout.Hole{}, false
}

func numbers(left, right any) string { return fmt.Sprintf("%7v%6v", left, right) }

func words(left, right any) string { return fmt.Sprintf("%4v%9v", left, right) }

// writeRow writes a cell for each model, followed by the row's description.
func writeRow(b *strings.Builder, shown []view, label string, cell func(view) string) {
	var row strings.Builder
	for _, v := range shown {
		fmt.Fprintf(&row, "%*s", columnWidth+2, cell(v))
	}
	if label != "" {
		row.WriteString("   " + label)
	}
	b.WriteString(row.String() + "\n")
}
