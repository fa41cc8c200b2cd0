package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// shape is a rect or a text of a picture, with its extent.
type shape struct {
	tag, class, text string
	rect
}

func (s shape) within(o shape) bool {
	const slack = 0.5
	return s.x >= o.x-slack && s.y >= o.y-slack && s.x+s.w <= o.x+o.w+slack && s.y+s.h <= o.y+o.h+slack
}

func (s shape) overlaps(o shape) bool {
	const slack = 0.01
	return s.x+s.w > o.x+slack && o.x+o.w > s.x+slack && s.y+s.h > o.y+slack && o.y+o.h > s.y+slack
}

// parse reads a whole picture as XML. The first rect is the page.
func parse(t *testing.T, svg []byte) []shape {
	t.Helper()
	var out []shape
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for inDefs := false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			require.Contains(t, "svg title style rect text defs pattern line", token.Name.Local)
			inDefs = inDefs || token.Name.Local == "defs"
			if name := token.Name.Local; !inDefs && (name == "rect" || name == "text") {
				out = append(out, shapeOf(t, token, d))
			}
		case xml.EndElement:
			inDefs = inDefs && token.Name.Local != "defs"
		}
	}
}

func shapeOf(t *testing.T, e xml.StartElement, d *xml.Decoder) shape {
	t.Helper()
	at := map[string]float64{}
	s := shape{tag: e.Name.Local}
	for _, a := range e.Attr {
		if a.Name.Local == "class" {
			s.class = a.Value
			continue
		}
		v, err := strconv.ParseFloat(a.Value, 64)
		require.NoError(t, err, a.Name.Local)
		at[a.Name.Local] = v
	}
	s.rect = rect{at["x"], at["y"], at["width"], at["height"]}
	if s.tag == "text" {
		s.measure(t, at["font-size"], d)
	}
	return s
}

// measure returns the width of a text in a monospaced font.
func (s *shape) measure(t *testing.T, size float64, d *xml.Decoder) {
	t.Helper()
	token, err := d.Token()
	require.NoError(t, err)
	data, ok := token.(xml.CharData)
	require.True(t, ok, "an empty text")
	s.text = string(data)
	s.w = float64(len([]rune(s.text))) * size * advance
	s.y, s.h = s.y-0.75*size, size
	switch {
	case strings.HasSuffix(s.class, "mid"):
		s.x -= s.w / 2
	case strings.HasSuffix(s.class, "end"):
		s.x -= s.w
	}
}

func pick(shapes []shape, classes ...string) []shape {
	var out []shape
	for _, s := range shapes {
		first, _, _ := strings.Cut(s.class, " ")
		for _, c := range classes {
			if first == c {
				out = append(out, s)
			}
		}
	}
	return out
}

// checkPicture is valid for any picture: nothing is clipped, boxes do not overlap, each label is
// inside a box, and texts do not touch.
func checkPicture(t *testing.T, svg []byte) {
	t.Helper()
	shapes := parse(t, svg)
	page := shapes[0]
	require.Equal(t, "page", page.class)
	for _, s := range shapes[1:] {
		require.True(t, s.within(page), "%+v is clipped by %+v", s, page)
	}
	boxes := pick(shapes[1:], "int", "enum", "ptr", "func", "hole")
	checkApart(t, boxes)
	checkApart(t, pick(shapes, "title", "muted", "name", "caption", "field", "type", "tick"))
	for _, label := range pick(shapes, "field") {
		inside := 0
		for _, b := range boxes {
			if label.within(b) {
				inside++
			}
		}
		require.Equal(t, 1, inside, "label %q is in no box", label.text)
	}
}

func checkApart(t *testing.T, shapes []shape) {
	t.Helper()
	for i, a := range shapes {
		for _, b := range shapes[:i] {
			require.False(t, a.overlaps(b), "%+v overlaps %+v", a, b)
		}
	}
}

func TestPicturesOfEveryReleaseAreClean(t *testing.T) {
	for i, info := range spec.Embedded().Releases() {
		if testing.Short() && i > 0 {
			break // one release is enough while the code changes
		}
		checkPicture(t, SVG(tables(release(t, info.Version), layout.Models()...), nil))
	}
	checkPicture(t, SVG(tables(awkward(), layout.Models()...), nil))
}

// Without this test, a check that accepts everything would not be noticed.
func TestTheCheckSeesAnOverlap(t *testing.T) {
	a := shape{rect: rect{0, 0, 10, 10}}
	assert.True(t, a.overlaps(shape{rect: rect{9, 9, 10, 10}}))
	assert.False(t, a.overlaps(shape{rect: rect{10, 0, 10, 10}}))
	assert.False(t, shape{rect: rect{5, 5, 10, 2}}.within(a))
}

// A row is as wide as a pointer, so boxes of a figure are as wide as their bytes.
func TestBoxesAreToScale(t *testing.T) {
	shapes := parse(t, SVG(tables(release(t, "1.3"), layout.LP64), []string{"DLTensor"}))
	width := map[float64]int{}
	for _, b := range pick(shapes[1:], "int", "enum", "ptr", "func") {
		if b.h > 14 {
			require.InDelta(t, rowHeight-2*gap, b.h, 0.01)
			width[b.w+2*gap]++
		}
	}
	assert.Equal(t, map[float64]int{512: 4, 256: 3, 128: 1, 64: 2}, width)
}

func TestEqualLayoutsShareASection(t *testing.T) {
	svg := string(SVG(tables(release(t, "1.3"), layout.Models()...), nil))
	assert.Contains(t, svg, ">DLPack 1.3, lp64 and llp64<")
	assert.Contains(t, svg, ">DLPack 1.3, ilp32<")
	assert.Contains(t, svg, ">DLPack 1.3, short-enums<", "its enums are narrower")
	assert.Equal(t, 4, strings.Count(svg, `class="title"`))
}

func TestAPictureHasAnEnd(t *testing.T) {
	r := &spec.Release{Version: "0.0",
		Decls: []spec.Decl{&spec.Struct{Name: "S0", Fields: []spec.Field{scalar("a", "uint64")}}}}
	for i := range 40 {
		inner := fmt.Sprintf("S%d", i)
		r.Decls = append(r.Decls,
			&spec.Struct{Name: fmt.Sprintf("S%d", i+1), Fields: []spec.Field{field("a", inner), field("b", inner)}})
	}
	svg := SVG(tables(r, layout.LP64), nil)
	assert.Less(t, len(svg), 4<<20)
	assert.Contains(t, string(svg), "too large to draw")
	assert.Contains(t, string(svg), ">S40<", "parts that are not drawn are still named")
}

func TestLabelsFit(t *testing.T) {
	tests := []struct {
		text        string
		size, width float64
		want        string
	}{
		{"code", 13, 54, "code"},
		{"device_type", 13, 80, "device_type"},
		{"much_too_long_for_one_byte", 13, 54, "much_too_…"},
		{"x", 13, 0, "…"},
	}
	for _, tt := range tests {
		got, size := fit(tt.text, tt.size, tt.width)
		assert.Equal(t, tt.want, got)
		assert.GreaterOrEqual(t, size, minFont)
		assert.LessOrEqual(t, size, tt.size)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	r := &spec.Release{Version: `<&">`, Decls: []spec.Decl{
		&spec.Struct{Name: "S", Fields: []spec.Field{scalar("a<b", "int8")}}}}
	shapes := parse(t, SVG(tables(r, layout.LP64), nil))
	assert.Equal(t, `DLPack <&">, lp64`, pick(shapes, "title")[0].text)
	assert.Equal(t, "a<b", pick(shapes, "field")[0].text)
}
