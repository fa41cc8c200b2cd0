package draw

import "fmt"

// grid maps bytes to coordinates, with the position of each row of a figure.
type grid struct {
	figure   *figure
	x        float64
	tops     []float64 // of each row, then the bottom of the last
	captions []int     // lines of captions in each row
}

func newGrid(f *figure, x, y float64) *grid {
	g := &grid{figure: f, x: x, tops: []float64{y}, captions: f.rows()}
	for _, n := range g.captions {
		y += rowHeight + float64(n*capHeight)
		g.tops = append(g.tops, y)
	}
	return g
}

// rect is a rectangle in pixels.
type rect struct{ x, y, w, h float64 }

// area returns the rectangle of bytes in one row or in whole rows. Outer captions in the first row
// move its top down.
func (g *grid) area(s span, captions int) rect {
	unit := g.figure.unit
	first, last := s.from/unit, (s.to-1)/unit
	perByte := rowWidth / float64(unit)
	top := g.tops[first] + float64(captions*capHeight)
	width := float64(s.to-s.from) * perByte
	if first != last {
		width = rowWidth
	}
	return rect{g.x + float64(s.from%unit)*perByte, top, width, g.tops[last+1] - top}
}

// figure draws one figure and returns the y below it.
func (p *picture) figure(f figure, x, y int) int {
	left := float64(x)
	p.text("name", left, float64(y+14), f.name, 16, 0.6*rowWidth)
	p.text("muted end", left+rowWidth, float64(y+14), f.note, 12, 0.4*rowWidth)
	if f.omitted {
		p.text("muted", left, float64(y+32), "too large to draw", 12, rowWidth)
		return y + f.height()
	}
	g := newGrid(&f, left, float64(y+headHeight))
	p.ruler(g)
	for _, fr := range f.frames {
		p.frame(g, fr)
	}
	for _, b := range f.boxes {
		p.box(g, b)
	}
	return y + f.height()
}

// ruler numbers the bytes of a row on top, and the rows on the left.
func (p *picture) ruler(g *grid) {
	perByte := rowWidth / float64(g.figure.unit)
	y := g.tops[0]
	for i := range min(g.figure.unit, g.figure.size) {
		p.text("tick mid", g.x+(float64(i)+0.5)*perByte, y-6, fmt.Sprint(i), 9.5, perByte)
	}
	for row := range g.captions {
		bottom := g.tops[row+1]
		p.text("tick end", g.x-12, bottom-rowHeight/2+4, fmt.Sprint(row*g.figure.unit), 11, ruler-12)
	}
}

// widen extends a frame beyond the edges of the rows, outer frames further than inner ones, so that
// their ends are visible.
func (r rect) widen(g *grid, depth int) rect {
	out := float64(2*maxDepth - 2*depth)
	if r.x == g.x {
		r.x, r.w = r.x-out, r.w+out
	}
	if r.x+r.w == g.x+rowWidth {
		r.w += out
	}
	return r
}

// frame draws a nested struct: a tint behind its boxes and a caption on top.
func (p *picture) frame(g *grid, fr frame) {
	for i, s := range fr.pieces(g.figure.unit) {
		outer := g.figure.captions(fr.span, s.from/g.figure.unit, fr.depth)
		r := g.area(s, outer).widen(g, fr.depth)
		p.add(`<rect class="frame%d" x="%s" y="%s" width="%s" height="%s" rx="3"/>`, fr.depth, num(r.x), num(r.y),
			num(r.w), num(r.h))
		if i == 0 {
			p.text("caption", r.x+8, r.y+14, fr.caption, 12, r.w-16)
		}
	}
}

// gap is the space between a box and the bytes around it.
const gap = 1.5

// box draws a field or a hole, with its label in the largest piece.
func (p *picture) box(g *grid, b box) {
	var label rect
	for _, s := range b.pieces(g.figure.unit) {
		r := g.area(s, g.captions[s.from/g.figure.unit])
		p.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="3"><title>%s</title></rect>`,
			b.class, num(r.x+gap), num(r.y+gap), num(r.w-2*gap), num(r.h-2*gap), escape(b.tooltip()))
		if r.w*r.h > label.w*label.h {
			label = r
		}
	}
	p.label(label, b)
}

func (b *box) tooltip() string {
	return fmt.Sprintf("%s: %s, bytes %d to %d", b.name, b.kind, b.from, b.to-1)
}

func (p *picture) label(r rect, b box) {
	x, y, width := r.x+r.w/2, r.y+r.h/2, r.w-10
	switch {
	case b.class == "hole":
		p.plate(x, y, min(width, 12*advance*float64(len(b.kind))+12))
		p.text("type mid", x, y+4, b.kind, 12, width)
	case b.kind == "":
		p.text("field mid", x, y+4, b.name, 13, width)
	default:
		p.text("field mid", x, y-2, b.name, 13, width)
		p.text("type mid", x, y+12, b.kind, 11, width)
	}
}

// plate draws the background of a label over the hatching of a hole.
func (p *picture) plate(x, y, width float64) {
	p.add(`<rect class="plate" x="%s" y="%s" width="%s" height="18" rx="3"/>`, num(x-width/2), num(y-9), num(width))
}

// legend draws the legend under the figures and returns the y of its lower edge.
func (p *picture) legend(y int) int {
	x := float64(margin + ruler)
	for _, l := range []struct{ class, text string }{
		{"int", "integer"}, {"enum", "enum"}, {"ptr", "pointer"}, {"func", "function pointer"},
		{"hole", "hole: padding"},
	} {
		p.add(`<rect class="%s" x="%s" y="%d" width="18" height="14" rx="3"/>`, l.class, num(x), y)
		p.text("type", x+24, float64(y+11), l.text, 12, rowWidth)
		x += 52 + 12*advance*float64(len(l.text))
	}
	return y + legendSize
}
