package draw

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// figure is one struct or enum, divided into rows of the width of a pointer, so that aligned fields
// begin in the same column.
type figure struct {
	name    string
	note    string // size and alignment in words
	size    int
	unit    int // bytes of a row
	boxes   []box
	frames  []frame
	omitted bool // too large to draw: only the heading is shown
}

// box is a part without inner parts: a scalar field or a hole.
type box struct {
	span
	class string // of the style sheet
	name  string
	kind  string // the type in C, or how large a hole is; may be empty
}

// frame is a nested struct, drawn behind its boxes with a caption.
type frame struct {
	span
	caption string
	depth   int // 1 is a direct member of the figure's struct
}

// span is a range of bytes, from the start of the figure's struct.
type span struct{ from, to int }

func (s span) contains(o span) bool { return s.from <= o.from && o.to <= s.to }

// maxDepth and maxBytes limit the drawing of an absurd spec. DLPack itself nests three deep and has
// fewer than 300 bytes in all its structs.
const (
	maxDepth = 4
	maxBytes = 1 << 14
)

// figures draws enums, then structs. After maxBytes, the remaining ones are only named.
func figures(v view) []figure {
	var out []figure
	for _, e := range v.enums {
		out = append(out, enumFigure(v.Table, e))
	}
	room := maxBytes
	for _, s := range v.structs {
		f := figure{name: s.Name, note: note(s.Size, s.Align), size: s.Size, unit: v.Model.Pointer}
		if f.omitted = s.Size > room; !f.omitted {
			room -= s.Size
			f.nest(v.Table, s, 0, 1)
		}
		out = append(out, f)
	}
	return out
}

func enumFigure(t *layout.Table, e layout.Enum) figure {
	return figure{
		name: e.Name, note: note(e.Size, e.Align), size: e.Size, unit: t.Model.Pointer,
		boxes: []box{{span{0, e.Size}, "enum", "enum", ""}},
	}
}

func note(size, align int) string { return fmt.Sprintf("%s, aligned to %d", bytes(size), align) }

func bytes(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// nest adds the boxes of a struct that starts at a byte of the figure.
func (f *figure) nest(t *layout.Table, s layout.Struct, base, depth int) {
	spell := cdecl.Of(t.Release).In(s.Name)
	for _, m := range s.Fields {
		at := span{base + m.Offset, base + m.Offset + m.Size}
		if m.Size == 0 {
			continue // only a spec that validation rejects has such a field
		}
		inner, isStruct := t.Struct(t.Underlying(m.Type).Name)
		kind := spell.Type(m.Type)
		if isStruct && m.Type.Kind == spec.Named && depth < maxDepth {
			f.frames = append(f.frames, frame{at, m.Name + ": " + kind, depth})
			f.nest(t, inner, at.from, depth+1)
			continue
		}
		f.boxes = append(f.boxes, box{at, class(t, m.Type), m.Name, kind})
	}
	for _, h := range s.Holes {
		at := span{base + h.Offset, base + h.Offset + h.Size}
		f.boxes = append(f.boxes, box{at, "hole", "hole", bytes(h.Size)})
	}
}

// class returns the style of a field, which depends on how bindings handle the field.
func class(t *layout.Table, ft spec.Type) string {
	ft = t.Underlying(ft)
	switch {
	case ft.Kind == spec.Function || spec.Find[*spec.Callback](t.Release, ft.Name) != nil:
		return "func"
	case ft.Kind == spec.Pointer:
		return "ptr"
	case ft.Kind == spec.Named && spec.Find[*spec.Enum](t.Release, ft.Name) != nil:
		return "enum"
	}
	return "int"
}

// captions counts the frames around a span that begin in a row, because their captions are in that
// row. Outer frames come first.
func (f *figure) captions(s span, row, depth int) int {
	n := 0
	for _, fr := range f.frames {
		if fr.depth < depth && fr.from/f.unit == row && fr.contains(s) {
			n++
		}
	}
	return n
}

// rows returns the number of caption lines in each row.
func (f *figure) rows() []int {
	out := make([]int, (f.size+f.unit-1)/f.unit)
	for _, b := range f.boxes {
		for row := b.from / f.unit; row*f.unit < b.to; row++ {
			out[row] = max(out[row], f.captions(b.span, row, maxDepth+1))
		}
	}
	return out
}

// pieces divides a span at the ends of rows, but keeps whole rows together.
func (s span) pieces(unit int) []span {
	var out []span
	for from := s.from; from < s.to; {
		to := min(s.to, (from/unit+1)*unit)
		if whole := (s.to / unit) * unit; from%unit == 0 && whole > from {
			to = whole
		}
		out = append(out, span{from, to})
		from = to
	}
	return out
}
