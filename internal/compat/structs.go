package compat

import (
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func (c *comparison) structs() {
	c.renames()
	pair(c, changeOf[*spec.Struct](c, "struct-removed"), c.structure, changeOf[*spec.Struct](c, "struct-added"))
}

// renames finds, for each removed struct, a new struct with the same fields.
func (c *comparison) renames() {
	for _, old := range spec.Of[*spec.Struct](c.old) {
		if spec.Find[*spec.Struct](c.new, old.Name) != nil {
			continue
		}
		for _, new := range spec.Of[*spec.Struct](c.new) {
			if spec.Find[*spec.Struct](c.old, new.Name) == nil && !c.isRenamed(new.Name) && sameFields(old, new) {
				c.renamed[old.Name] = new.Name
				c.add(c.renameRule(old, new), new.Name, old.Name, new.Name)
				break
			}
		}
	}
}

func (c *comparison) renameRule(old, new *spec.Struct) string {
	if alias := spec.Find[*spec.Alias](c.new, old.Name); alias != nil && alias.Target == new.Name {
		return "struct-aliased"
	}
	return "struct-renamed"
}

func sameFields(a, b *spec.Struct) bool {
	return slices.EqualFunc(a.Fields, b.Fields, func(x, y spec.Field) bool {
		return x.Name == y.Name && x.Type.Kind == y.Type.Kind
	})
}

// structure compares a struct of both releases.
func (c *comparison) structure(old, new *spec.Struct) {
	if old.Typedef && !new.Typedef {
		c.add("typedef-removed", new.Name, "", "")
	}
	if !old.Typedef && new.Typedef {
		c.add("typedef-added", new.Name, "", "")
	}
	heirs := heirs(old, new)
	for _, f := range old.Fields {
		if heir, ok := heirs[f.Name]; ok {
			c.field(new.Name, f, heir)
		} else {
			c.add("field-removed", new.Name+"."+f.Name, "", "")
		}
	}
	for _, f := range new.Fields {
		if !isHeir(heirs, f.Name) {
			c.add("field-added", new.Name+"."+f.Name, "", "")
		}
	}
	c.layout(old, new, heirs)
}

// heirs returns the new field for each old field: the field of the same name, or else the field at
// the same position if its name is new.
func heirs(old, new *spec.Struct) map[string]spec.Field {
	find := func(s *spec.Struct, name string) int {
		return slices.IndexFunc(s.Fields, func(f spec.Field) bool { return f.Name == name })
	}
	out := map[string]spec.Field{}
	for i, f := range old.Fields {
		if j := find(new, f.Name); j >= 0 {
			out[f.Name] = new.Fields[j]
		} else if len(old.Fields) == len(new.Fields) && find(old, new.Fields[i].Name) < 0 {
			out[f.Name] = new.Fields[i]
		}
	}
	return out
}

func isHeir(heirs map[string]spec.Field, name string) bool {
	for _, f := range heirs {
		if f.Name == name {
			return true
		}
	}
	return false
}

// field compares the names, types and rules of a field. layout compares its offset.
func (c *comparison) field(within string, old, new spec.Field) {
	name := within + "." + new.Name
	if old.Name != new.Name {
		c.add("field-renamed", name, old.Name, new.Name)
	}
	speller := cdecl.Of(c.new).In(within)
	if before, after := speller.Type(c.rename(old.Type)), speller.Type(new.Type); before != after {
		c.add("field-type", name, before, after)
	}
	if old.Null != new.Null {
		c.add("null-changed", name, null(old), null(new))
	}
	if old.Owner != new.Owner {
		c.add("owner-changed", name, old.Owner, new.Owner)
	}
}

// null formats a rule for NULL as a phrase.
func null(f spec.Field) string {
	switch f.Null {
	case spec.NullNever:
		return "never NULL"
	case spec.NullAllowed:
		return "may be NULL"
	case spec.NullEmpty:
		return "NULL only without elements"
	case spec.NullScalar:
		return "NULL only when ndim is 0"
	}
	return "unsaid"
}

// layout reports the first data model in which a struct or one of its fields has a different
// offset, size or alignment.
func (c *comparison) layout(old, new *spec.Struct, heirs map[string]spec.Field) {
	c.eachModel(func(model string, before, after *layout.Table) bool {
		a, _ := before.Struct(old.Name)
		b, _ := after.Struct(new.Name)
		if a.Size != b.Size || a.Align != b.Align {
			c.add("layout-changed", new.Name, extent(a.Size, a.Align)+" in "+model, extent(b.Size, b.Align))
			return true
		}
		for _, f := range a.Fields {
			i := slices.IndexFunc(b.Fields, func(g layout.Field) bool { return g.Name == heirs[f.Name].Name })
			if i >= 0 && (f.Offset != b.Fields[i].Offset || f.Size != b.Fields[i].Size) {
				c.add("layout-changed", new.Name+"."+b.Fields[i].Name, place(f)+" in "+model, place(b.Fields[i]))
				return true
			}
		}
		return false
	})
}

func extent(size, align int) string { return fmt.Sprintf("%d bytes aligned to %d", size, align) }

func place(f layout.Field) string { return fmt.Sprintf("%d bytes at %d", f.Size, f.Offset) }
