package verify

import (
	"cmp"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/observe"
	"github.com/dlpackgen/dlpackgen/internal/verify/source"
)

func recordWord(r *observe.Record) string {
	if r.Union {
		return "a union"
	}
	return "a struct"
}

func (c *comparison) record(s *spec.Struct) {
	got := c.Records[s.Name]
	if got == nil && c.onlyTag(s.Name, s.Typedef) {
		return
	}
	if got == nil || got.Union {
		c.missing(s.Name, "a struct")
		return
	}
	if got.Size < 0 {
		c.report("verify-missing", got.Pos, s.Name,
			"%s is declared but not defined, expected a struct with %d fields", s.Name, len(s.Fields))
		return
	}
	want, _ := c.table.Struct(s.Name)
	c.names(s.Name, s.Tag, s.Typedef)
	c.extent(got, want)
	c.fields(s, got, want)
	c.deleters(s)
}

// names compares the tag and the typedef name of a type.
func (c *comparison) names(name string, tag, typedef bool) {
	for _, d := range c.decls {
		if d.Name != name || d.Body == nil {
			continue
		}
		want := ""
		if tag {
			want = name
		}
		if d.Body.Tag != want {
			c.report("verify-tag", d.Pos, name, "%s has %s, expected %s", name, tagWord(d.Body.Tag), tagWord(want))
		}
		break
	}
	c.typedefName(name, c.typedefOf(name), typedef)
}

// onlyTag reports a type that has the tag but a different typedef name.
func (c *comparison) onlyTag(name string, typedef bool) bool {
	tag := slices.IndexFunc(c.decls, func(d source.Decl) bool {
		return d.Name == name && (d.Kind == source.Record || d.Kind == source.Enum)
	})
	got := c.typedefOf(name)
	if tag < 0 || got.Name == name {
		return false
	}
	if got.Name == "" {
		got = source.Decl{Name: "another", Pos: c.decls[tag].Pos}
	}
	c.typedefName(name, got, typedef)
	return true
}

// typedefOf returns the typedef of that name, or else the one that the type with
// that tag is defined in.
func (c *comparison) typedefOf(name string) (found source.Decl) {
	for _, d := range c.decls {
		switch {
		case d.Kind != source.Typedef:
		case d.Name == name:
			return d
		case d.Body != nil && d.Body.Tag == name:
			found = d
		}
	}
	return found
}

func (c *comparison) typedefName(name string, got source.Decl, typedef bool) {
	want := ""
	if typedef {
		want = name
	}
	if got.Name == want {
		return
	}
	pos := got.Pos
	if got.Name == "" {
		pos = c.position(name)
	}
	c.report("verify-typedef", pos, cmp.Or(got.Name, name), "%s has %s, expected %s", name, typedefWord(got.Name),
		typedefWord(want))
}

func tagWord(tag string) string {
	if tag == "" {
		return "no tag"
	}
	return "the tag " + tag
}

func typedefWord(name string) string {
	if name == "" {
		return "no typedef name"
	}
	return "the typedef name " + name
}

func (c *comparison) extent(got *observe.Record, want layout.Struct) {
	if got.Size != int64(want.Size) {
		c.report("verify-size", got.Pos, got.Name, "size of %s is %d bytes, expected %d", got.Name, got.Size, want.Size)
	}
	switch align, _ := aligned(c.Header, alignment+got.Name); align {
	case want.Align:
	case 0:
		c.report("verify-align", got.Pos, got.Name, "alignment of %s could not be measured, expected %d", got.Name,
			want.Align)
	default:
		c.report("verify-align", got.Pos, got.Name, "alignment of %s is %d, expected %d", got.Name, align, want.Align)
	}
}

// fields pairs members by name, and the remaining ones by offset, so that a renamed field is one
// difference, not two.
func (c *comparison) fields(s *spec.Struct, got *observe.Record, want layout.Struct) {
	spell := cdecl.Of(c.release).In(s.Name)
	taken := map[string]bool{}
	var lost []layout.Field
	for _, w := range want.Fields {
		m := memberBy(got, func(m observe.Member) bool { return m.Name == w.Name })
		if m == nil {
			lost = append(lost, w)
			continue
		}
		taken[m.Name] = true
		c.field(s.Name, *m, w, spell)
	}
	for _, w := range lost {
		m := memberBy(got, func(m observe.Member) bool {
			return m.Offset == int64(w.Offset) && !taken[m.Name] && !named(want, m.Name)
		})
		if m == nil {
			c.report("verify-field-missing", got.Pos, got.Name, "%s has no field %s, expected %s at offset %d",
				s.Name, w.Name, plain(spell.Declare(w.Type, w.Name)), w.Offset)
			continue
		}
		taken[m.Name] = true
		c.report("verify-field-name", m.Pos, m.Name, "field of %s at offset %d is called %s, expected %s", s.Name,
			w.Offset, m.Name, w.Name)
		c.field(s.Name, *m, w, spell)
	}
	for _, m := range got.Members {
		if !taken[m.Name] {
			c.report("verify-field-extra", m.Pos, m.Name, "%s has the field %s (%s, offset %d), expected none",
				s.Name, m.Name, m.Type, m.Offset)
		}
	}
}

func memberBy(r *observe.Record, match func(observe.Member) bool) *observe.Member {
	if i := slices.IndexFunc(r.Members, match); i >= 0 {
		return &r.Members[i]
	}
	return nil
}

func named(s layout.Struct, name string) bool {
	return slices.ContainsFunc(s.Fields, func(f layout.Field) bool { return f.Name == name })
}

func (c *comparison) field(owner string, got observe.Member, want layout.Field, spell cdecl.Speller) {
	name := owner + "." + want.Name
	if ctype := plain(spell.Type(want.Type)); got.Type != ctype {
		c.report("verify-field-type", got.Pos, got.Name, "type of %s is %s, expected %s", name, got.Type, ctype)
	} else if got.Name == want.Name {
		c.compareTwin(name, got.Pos, got.Name, cdecl.Of(c.release), want.Type)
	}
	if got.Size != int64(want.Size) {
		c.report("verify-field-size", got.Pos, got.Name, "size of %s is %d bytes, expected %d", name, got.Size,
			want.Size)
	}
	if got.Offset != int64(want.Offset) {
		c.report("verify-offset", got.Pos, got.Name, "offset of %s is %d, expected %d", name, got.Offset, want.Offset)
	}
}

// position returns the position at which a name of the release is declared.
func (c *comparison) position(name string) (pos diag.Pos) {
	_, pos = c.whatIs(name)
	return pos
}
