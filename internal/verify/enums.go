package verify

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/observe"
)

func (c *comparison) enum(e *spec.Enum) {
	got := c.Enums[e.Name]
	switch {
	case got == nil && c.onlyTag(e.Name, true):
		return
	case got == nil:
		c.missing(e.Name, "an enum")
		return
	case got.Scoped:
		c.report("verify-kind", got.Pos, e.Name,
			"%s is a scoped enum, expected an unscoped one", e.Name)
	}
	c.names(e.Name, false, true)
	c.underlying(e, got)
	c.enumerators(e, got)
}

// underlying compares the type after the colon, and the width and signedness in the compiler's
// output.
func (c *comparison) underlying(e *spec.Enum, got *observe.Enum) {
	want, _ := c.table.Enum(e.Name)
	if got.Size != int64(want.Size) {
		c.report("verify-enum-width", got.Pos, e.Name, "%s is %d bytes wide, expected %d", e.Name, got.Size, want.Size)
	}
	fixed := ""
	if c.lang == layout.CXX && e.CxxUnderlying != "" {
		fixed = cdecl.Builtin(e.CxxUnderlying)
	}
	if written := c.written(e.Name); written != fixed {
		c.report("verify-enum-underlying", got.Pos, e.Name, "%s has %s, expected %s", e.Name,
			underlyingWord(written), underlyingWord(fixed))
	} else if got.Type != "" && got.Signed != want.Signed {
		c.report("verify-enum-underlying", got.Pos, e.Name, "the compiler makes %s %s (%s), expected %s", e.Name,
			signWord[got.Signed], got.Type, signWord[want.Signed])
	}
}

var signWord = map[bool]string{true: "signed", false: "unsigned"}

func underlyingWord(ctype string) string {
	if ctype == "" {
		return "no fixed underlying type"
	}
	return "the underlying type " + ctype
}

// written returns the underlying type as written in the header.
func (c *comparison) written(name string) string {
	for _, d := range c.decls {
		if d.Name == name && d.Body != nil {
			return d.Body.Underlying
		}
	}
	return ""
}

// enumerators pairs enumerators by name, and the remaining ones by value, so that a renamed one is
// one difference, not two.
func (c *comparison) enumerators(e *spec.Enum, got *observe.Enum) {
	taken := map[string]bool{}
	var lost []spec.EnumValue
	for _, w := range e.Values {
		i := slices.IndexFunc(got.Values, func(v observe.Value) bool { return v.Name == w.Name })
		if i < 0 {
			lost = append(lost, w)
			continue
		}
		taken[w.Name] = true
		if v := got.Values[i].Value; v != w.Value {
			c.report("verify-enum-value", c.enumerator(e.Name, w.Name), w.Name, "%s is %d, expected %d", w.Name, v,
				w.Value)
		}
	}
	for _, w := range lost {
		i := slices.IndexFunc(got.Values, func(v observe.Value) bool { return v.Value == w.Value && !taken[v.Name] })
		if i < 0 {
			c.report("verify-enum-missing", got.Pos, e.Name, "%s has no %s, expected the value %d", e.Name, w.Name,
				w.Value)
			continue
		}
		name := got.Values[i].Name
		taken[name] = true
		c.report("verify-enum-name", c.enumerator(e.Name, name), name, "value %d of %s is called %s, expected %s",
			w.Value, e.Name, name, w.Name)
	}
	for _, v := range got.Values {
		if !taken[v.Name] {
			c.report("verify-enum-extra", c.enumerator(e.Name, v.Name), v.Name, "%s has %s = %d, expected none",
				e.Name, v.Name, v.Value)
		}
	}
	c.order(e, got)
}

// order compares the order of the common enumerators. A reordered enum has the same values, but
// indicates a wrong merge.
func (c *comparison) order(e *spec.Enum, got *observe.Enum) {
	var wanted, found []string
	for _, w := range e.Values {
		if slices.ContainsFunc(got.Values, func(v observe.Value) bool { return v.Name == w.Name }) {
			wanted = append(wanted, w.Name)
		}
	}
	for _, v := range got.Values {
		if slices.Contains(wanted, v.Name) {
			found = append(found, v.Name)
		}
	}
	if !slices.Equal(wanted, found) {
		c.report("verify-enum-order", got.Pos, e.Name, "%s is in the order %s, expected %s", e.Name,
			strings.Join(found, ", "), strings.Join(wanted, ", "))
	}
}

// enumerator returns the position of an enumerator, which debug information lacks.
func (c *comparison) enumerator(enum, name string) diag.Pos {
	for _, d := range c.decls {
		if d.Name == enum && d.Body != nil {
			return d.Body.Members[name]
		}
	}
	return diag.Pos{}
}
