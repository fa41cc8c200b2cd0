package compat

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func (c *comparison) linkages() {
	pair(c, changeOf[*spec.Linkage](c, "linkage-removed"), func(_, _ *spec.Linkage) {},
		changeOf[*spec.Linkage](c, "linkage-added"))
}

func (c *comparison) macros() {
	pair(c, changeOf[*spec.Macro](c, "macro-removed"), func(old, new *spec.Macro) {
		switch {
		case new.Value < old.Value:
			c.add("macro-lowered", new.Name, old.Literal, new.Literal)
		case new.Value > old.Value:
			c.add("macro-raised", new.Name, old.Literal, new.Literal)
		case new.Literal != old.Literal:
			c.add("macro-respelled", new.Name, old.Literal, new.Literal)
		}
	}, changeOf[*spec.Macro](c, "macro-added"))
}

func (c *comparison) flags() {
	pair(c, changeOf[*spec.Flag](c, "flag-removed"), func(old, new *spec.Flag) {
		if old.Bit != new.Bit {
			c.add("flag-bit", new.Name, fmt.Sprint(old.Bit), fmt.Sprint(new.Bit))
		}
	}, changeOf[*spec.Flag](c, "flag-added"))
}

func (c *comparison) aliases() {
	pair(c, changeOf[*spec.Alias](c, "alias-removed"), func(old, new *spec.Alias) {
		if c.newName(old.Target) != new.Target {
			c.add("alias-target", new.Name, old.Target, new.Target)
		}
	}, changeOf[*spec.Alias](c, "alias-added"))
}

func (c *comparison) callbacks() {
	pair(c, changeOf[*spec.Callback](c, "callback-removed"), func(old, new *spec.Callback) {
		before, after := c.signature(old), cdecl.Of(c.new).Type(function(new))
		if before != after {
			c.add("callback-signature", new.Name, before, after)
		}
	}, changeOf[*spec.Callback](c, "callback-added"))
}

func function(f *spec.Callback) spec.Type { return spec.Type{Kind: spec.Function, Func: &f.Func} }

// signature formats an old callback with the new names of its types, so that a renamed struct is
// reported only once.
func (c *comparison) signature(f *spec.Callback) string {
	return cdecl.Of(c.new).Type(c.rename(function(f)))
}

// rename returns an old type with the new names of its structs.
func (c *comparison) rename(t spec.Type) spec.Type {
	t.Name = c.newName(t.Name)
	if t.Elem != nil {
		elem := c.rename(*t.Elem)
		t.Elem = &elem
	}
	if t.Func != nil {
		f := spec.Func{Returns: c.rename(t.Func.Returns)}
		for _, p := range t.Func.Params {
			f.Params = append(f.Params, spec.Param{Name: p.Name, Type: c.rename(p.Type)})
		}
		t.Func = &f
	}
	return t
}

func (c *comparison) enums() {
	pair(c, changeOf[*spec.Enum](c, "enum-removed"), func(old, new *spec.Enum) {
		c.enumerators(old, new)
		if old.CxxUnderlying != new.CxxUnderlying {
			c.add("enum-underlying", new.Name, underlying(old), underlying(new))
		}
		c.eachModel(func(model string, before, after *layout.Table) bool {
			a, _ := before.Enum(old.Name)
			b, _ := after.Enum(new.Name)
			// Signedness follows from the C++ type, which has a separate rule.
			if a.Size != b.Size {
				c.add("enum-width", new.Name, fmt.Sprintf("%d bytes in %s", a.Size, model),
					fmt.Sprintf("%d bytes", b.Size))
			}
			return a.Size != b.Size
		})
	}, changeOf[*spec.Enum](c, "enum-added"))
}

func underlying(e *spec.Enum) string {
	if e.CxxUnderlying == "" {
		return "not fixed"
	}
	return cdecl.Builtin(e.CxxUnderlying)
}

func (c *comparison) enumerators(old, new *spec.Enum) {
	byName, byValue := map[string]int64{}, map[int64]string{}
	for _, v := range new.Values {
		byName[v.Name], byValue[v.Value] = v.Value, v.Name
	}
	known := map[int64]bool{}
	for _, v := range old.Values {
		known[v.Value] = true
		now, same := byName[v.Name]
		heir, taken := byValue[v.Value]
		switch {
		case same && now != v.Value:
			c.add("enumerator-value", new.Name+"."+v.Name, fmt.Sprint(v.Value), fmt.Sprint(now))
			known[now] = true
		case !same && taken:
			c.add("enumerator-renamed", new.Name+"."+v.Name, v.Name, heir)
		case !same:
			c.add("enumerator-removed", new.Name+"."+v.Name, fmt.Sprint(v.Value), "")
		}
	}
	for _, v := range new.Values {
		if !known[v.Value] {
			c.add("enumerator-added", new.Name+"."+v.Name, "", fmt.Sprint(v.Value))
		}
	}
}

// eachModel passes the layouts of both releases under every data model and
// language, until a difference is found and reported.
func (c *comparison) eachModel(differ func(model string, old, new *layout.Table) bool) {
	for _, t := range c.layouts {
		if differ(t[0].Model.Name+" "+t[0].Lang.String(), t[0], t[1]) {
			return
		}
	}
}

func (c *comparison) python() {
	old, new := c.old.Python, c.new.Python
	for _, n := range []struct{ what, old, new string }{
		{"capsule", old.Capsule.Fresh, new.Capsule.Fresh},
		{"used capsule", old.Capsule.Used, new.Capsule.Used},
		{"versioned capsule", old.Versioned.Fresh, new.Versioned.Fresh},
		{"used versioned capsule", old.Versioned.Used, new.Versioned.Used},
		{"exchange attribute", old.ExchangeAttr, new.ExchangeAttr},
		{"exchange capsule", old.ExchangeCapsule, new.ExchangeCapsule},
	} {
		switch {
		case n.old == n.new:
		case n.old == "":
			c.add("python-added", n.what, "", n.new)
		case n.new == "":
			c.add("python-removed", n.what, n.old, "")
		default:
			c.add("python-name", n.what, n.old, n.new)
		}
	}
}
