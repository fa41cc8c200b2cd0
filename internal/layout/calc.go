package layout

import (
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// extent is the size and alignment of a type, in bytes. An alignment is never 0.
type extent struct {
	size  int
	align int
}

var nothing = extent{0, 1}

// limit keeps sizes of an absurd spec (structs that double at every level), and sums of two of
// them, within 32 bits.
const limit = 1 << 29

// calc caches the sizes of declarations, so the cost of deep nesting is proportional to their
// number.
type calc struct {
	model Model
	lang  Lang
	decls map[string]spec.Decl
	known map[string]extent
}

func newCalc(r *spec.Release, m Model, lang Lang) *calc {
	c := &calc{model: m, lang: lang, decls: map[string]spec.Decl{}, known: map[string]extent{}}
	for _, d := range r.Decls {
		c.decls[d.DeclName()] = d
	}
	return c
}

func (c *calc) structure(s *spec.Struct) Struct {
	out := Struct{Name: s.Name, Align: 1}
	end := 0
	for _, f := range s.Fields {
		x := c.extent(f.Type)
		offset := roundUp(end, x.align)
		out.fill(end, offset)
		out.Fields = append(out.Fields, Field{Name: f.Name, Type: f.Type, Offset: offset, Size: x.size, Align: x.align})
		out.Align = max(out.Align, x.align)
		end = min(offset+x.size, limit)
	}
	out.Size = roundUp(end, out.Align)
	out.fill(end, out.Size)
	return out
}

// fill records the bytes between two offsets as padding, if there are any.
func (s *Struct) fill(from, to int) {
	if from < to {
		s.Holes = append(s.Holes, Hole{Offset: from, Size: to - from})
	}
}

func (c *calc) enum(e *spec.Enum) Enum {
	x, signed := c.model.enum(e)
	if c.lang == CXX && e.CxxUnderlying != "" {
		x, signed = c.model.scalar(e.CxxUnderlying)
	}
	return Enum{Name: e.Name, Size: x.size, Align: x.align, Signed: signed}
}

func (c *calc) extent(t spec.Type) extent {
	switch t.Kind {
	case spec.Pointer, spec.Function:
		return c.pointer()
	case spec.Named:
		return c.named(t.Name)
	default:
		x, _ := c.model.scalar(t.Name)
		return x
	}
}

func (c *calc) pointer() extent { return extent{c.model.Pointer, c.model.Pointer} }

// named computes the size of a declaration once. A type that contains itself has size 0 inside
// itself, which ends the recursion.
func (c *calc) named(name string) extent {
	if x, ok := c.known[name]; ok {
		return x
	}
	c.known[name] = nothing
	x := c.declared(name)
	c.known[name] = x
	return x
}

func (c *calc) declared(name string) extent {
	switch d := c.decls[name].(type) {
	case *spec.Struct:
		s := c.structure(d)
		return extent{s.Size, s.Align}
	case *spec.Enum:
		e := c.enum(d)
		return extent{e.Size, e.Align}
	case *spec.Alias:
		return c.extent(target(d))
	case *spec.Callback:
		return c.pointer()
	}
	return nothing
}

// target returns the type that an alias names: a builtin one or a declaration.
func target(a *spec.Alias) spec.Type {
	if x, _ := LP64.scalar(a.Target); x != nothing {
		return spec.Type{Kind: spec.Builtin, Name: a.Target}
	}
	return spec.Type{Kind: spec.Named, Name: a.Target}
}

func roundUp(n, align int) int { return (n + align - 1) / align * align }
