package verify

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/source"
)

// callback compares the types of a signature through the compiler, and the names of the parameters
// in the source text, because debug information does not contain them.
func (c *comparison) callback(d *spec.Callback) {
	got := c.Aliases[d.Name]
	if got == nil {
		c.missing(d.Name, "a function-pointer typedef")
		return
	}
	spell, t := cdecl.Of(c.release), spec.Type{Kind: spec.Function, Func: &d.Func}
	want := plain(spell.Type(t))
	if got.Type != want {
		c.report("verify-signature", got.Pos, d.Name, "%s is %s, expected %s", d.Name, got.Type, want)
		return
	}
	c.compareTwin(d.Name, got.Pos, d.Name, spell, t)
	for _, decl := range c.decls {
		if decl.Name == d.Name && decl.Kind == source.Typedef {
			c.params(d.Name, got.Pos, decl.Parameters, &d.Func)
			return
		}
	}
}

// deleters compares the parameter names of function pointers that are fields. Their types were
// compared with the fields.
func (c *comparison) deleters(s *spec.Struct) {
	for _, d := range c.decls {
		if d.Name != s.Name || d.Body == nil {
			continue
		}
		for _, f := range s.Fields {
			if got, ok := d.Body.Callbacks[f.Name]; ok && f.Type.Kind == spec.Function {
				c.params(s.Name+"."+f.Name, c.memberPos(s.Name, f.Name), got, f.Type.Func)
			}
		}
		return
	}
}

func (c *comparison) memberPos(record, field string) diag.Pos {
	for _, m := range c.Records[record].Members {
		if m.Name == field {
			return m.Pos
		}
	}
	return diag.Pos{}
}

// params compares names only if the number of parameters is equal. Otherwise, the signature was
// reported.
func (c *comparison) params(name string, pos diag.Pos, got []source.Param, want *spec.Func) {
	if len(got) != len(want.Params) {
		return
	}
	for i, w := range want.Params {
		if got[i].Name != w.Name {
			c.add(diag.Warning, "verify-param-name", pos, "",
				fmt.Sprintf("parameter %d of %s is %s, expected %s", i+1, name, nameWord(got[i].Name),
					nameWord(w.Name)))
		}
		if w.Type.Kind == spec.Function {
			c.params(name+"'s "+w.Name, pos, got[i].Params, w.Type.Func)
		}
	}
}

func nameWord(name string) string {
	if name == "" {
		return "nameless"
	}
	return "called " + name
}

func (c *comparison) alias(d *spec.Alias) {
	got := c.Aliases[d.Name]
	if got == nil {
		c.missing(d.Name, "a typedef of "+d.Target)
		return
	}
	if want := plain(cdecl.Of(c.release).Name(d.Target)); got.Type != want {
		c.report("verify-alias", got.Pos, d.Name, "%s is a typedef of %s, expected %s", d.Name, got.Type, want)
	}
}

// builtins compares the fixed-width typedefs themselves: a header may define int64_t with another
// width.
func (c *comparison) builtins() {
	for _, width := range []int64{8, 16, 32, 64} {
		for _, signed := range []bool{true, false} {
			name := fmt.Sprintf("%sint%d_t", strings.Repeat("u", map[bool]int{false: 1}[signed]), width)
			got := c.Aliases[name]
			if got == nil || got.Size*8 == width && got.Signed == signed {
				continue
			}
			c.report("verify-builtin", got.Pos, name, "%s is %s (%s, %d bits), expected %s with %d bits",
				name, got.Type, signWord[got.Signed], got.Size*8, signWord[signed], width)
		}
	}
}
