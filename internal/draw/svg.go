package draw

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// The picture's measures, in pixels. A row always has the same width, so a byte
// is wider where rows are 4 bytes than where they are 8.
const (
	rowWidth   = 512
	rowHeight  = 37
	capHeight  = 19
	headHeight = 38 // a figure's name and its ruler
	figureGap  = 20
	ruler      = 40 // left of a row: its offset
	columnGap  = 30
	margin     = 24
	titleSize  = 34
	legendSize = 44
)

// SVG returns a drawing of the named structs and enums, or of all without names. The file is
// self-contained, without scripts and fonts. Models with the same layout share one section.
func SVG(tables []*layout.Table, names []string) []byte {
	p := &picture{}
	y := margin
	for _, group := range grouped(views(tables, names)) {
		y = p.section(group, y)
	}
	y = p.legend(y)
	return p.document(y)
}

// grouped joins the tables with the same drawing.
func grouped(shown []view) [][]view {
	var out [][]view
next:
	for _, v := range shown {
		for i, g := range out {
			if samePicture(g[0], v) {
				out[i] = append(g, v)
				continue next
			}
		}
		out = append(out, []view{v})
	}
	return out
}

func samePicture(a, b view) bool {
	return a.Model.Pointer == b.Model.Pointer && reflect.DeepEqual(figures(a), figures(b))
}

// picture collects elements; width is what the widest section needs.
type picture struct {
	strings.Builder
	width int
}

func (p *picture) add(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text adds one line. It reduces the size and then truncates the text until it fits the width.
func (p *picture) text(class string, x, y float64, s string, size, width float64) {
	s, size = fit(s, size, width)
	p.add(`<text class="%s" x="%s" y="%s" font-size="%s">%s</text>`, class, num(x), num(y), num(size), escape(s))
}

// advance is the width of a character of the common monospaced fonts, in em.
const (
	advance = 0.605
	minFont = 8.5
)

func fit(s string, size, width float64) (string, float64) {
	runes := []rune(s)
	size = min(size, max(minFont, width/(advance*float64(len(runes)))))
	room := int(width/(advance*size) + 1e-6)
	if room < len(runes) {
		s = string(runes[:max(0, room-1)]) + "…"
	}
	return s, size
}

// num formats a coordinate with the relevant digits, equally on all platforms.
func num(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// escapes are the escapes of XML. Package encoding/xml would link its decoder into the program.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

func escape(s string) string {
	return escapes.Replace(s)
}

// section draws a group of models under one heading, in one or two columns, and returns the y below
// it.
func (p *picture) section(group []view, y int) int {
	figs := figures(group[0])
	split := balance(figs)
	columns := [][]figure{figs[:split], figs[split:]}
	if split == len(figs) {
		columns = columns[:1]
	}
	width := len(columns)*(ruler+rowWidth) + (len(columns)-1)*columnGap
	p.width = max(p.width, width)
	p.heading(group, y, width)
	y += titleSize + 2*figureGap
	bottom := y
	for i, column := range columns {
		x, down := margin+ruler+i*(ruler+rowWidth+columnGap), y
		for _, f := range column {
			down = p.figure(f, x, down)
		}
		bottom = max(bottom, down)
	}
	return bottom + figureGap
}

func (p *picture) heading(group []view, y, width int) {
	var names, docs []string
	for _, v := range group {
		names = append(names, v.Model.Name)
		docs = append(docs, v.Model.Doc)
	}
	title := fmt.Sprintf("DLPack %s, %s", group[0].Release.Version, strings.Join(names, " and "))
	p.text("title", margin, float64(y+18), title, 22, float64(width))
	p.text("muted", margin, float64(y+40),
		fmt.Sprintf("%s; a row is %d bytes", strings.Join(docs, "; "), group[0].Model.Pointer), 13, float64(width))
}

// balance returns the number of figures in the first of two columns that minimizes the height. It
// returns all of them if a second column is not worth it.
func balance(figs []figure) int {
	best, split := math.MaxInt, len(figs)
	for i := 1; i <= len(figs); i++ {
		if tall := max(height(figs[:i]), height(figs[i:])); tall < best {
			best, split = tall, i
		}
	}
	return split
}

func height(figs []figure) int {
	sum := 0
	for _, f := range figs {
		sum += f.height()
	}
	return sum
}

func (f *figure) height() int {
	sum := headHeight + figureGap
	if f.omitted {
		return sum
	}
	for _, captions := range f.rows() {
		sum += rowHeight + captions*capHeight
	}
	return sum
}

// document wraps the drawing in an SVG element. The background is opaque and follows the reader's
// colour scheme, so the picture reads well on any page.
func (p *picture) document(height int) []byte {
	width := p.width + 2*margin
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width,
		height, width, height)
	b.WriteString("<title>DLPack structs, drawn to scale</title>\n" + style)
	fmt.Fprintf(&b, `<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	b.WriteString(p.String() + "</svg>\n")
	return []byte(b.String())
}
