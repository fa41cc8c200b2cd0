package layout

import (
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// extent is the room of a type, in bytes. An alignment is never 0.
type extent struct {
	size  int
	align int
}

var nothing = extent{0, 1}

// limit keeps the sizes of an absurd spec (structs that double at every level)
// inside an int.
const limit = 1 << 30

// calc remembers what it has sized, so that deep nesting costs no more than
// the number of declarations.
type calc struct {
	release *spec.Release
	model   Model
	lang    Lang
	known   map[string]extent
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

// named sizes a declaration once. A name that is asked for while it is being
// sized is inside itself: it takes no room, which ends the recursion.
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
	for _, d := range c.release.Decls {
		if d.DeclName() != name {
			continue
		}
		switch d := d.(type) {
		case *spec.Struct:
			s := c.structure(d)
			return extent{s.Size, s.Align}
		case *spec.Enum:
			e := c.enum(d)
			return extent{e.Size, e.Align}
		case *spec.Alias:
			return c.alias(d)
		case *spec.Callback:
			return c.pointer()
		}
	}
	return nothing
}

// alias follows a name that stands for a builtin type or another declaration.
func (c *calc) alias(a *spec.Alias) extent {
	if x, _ := c.model.scalar(a.Target); x != nothing {
		return x
	}
	return c.named(a.Target)
}

func roundUp(n, align int) int { return (n + align - 1) / align * align }
