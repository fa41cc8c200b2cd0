package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/source"
)

// number compares the body of a macro, character by character, and the value.
func (c *comparison) number(name, literal string, want int64) {
	m, ok := c.text.Macro(name)
	if !ok {
		c.missing(name, "a macro with the body "+literal)
		return
	}
	got, known := c.value(name)
	if m.Body == literal && known && got == want {
		return
	}
	found := fmt.Sprintf("%s (value %d)", m.Body, got)
	if !known {
		found = m.Body + " (not a constant)"
	}
	c.report("verify-macro", m.Pos, name, "%s is %s, expected %s (value %d)", name, found, literal, want)
}

// value returns the value of a macro in the compiler.
func (c *comparison) value(name string) (int64, bool) {
	e := c.Enums[value+name+"_"]
	if e == nil || len(e.Values) != 1 {
		return 0, false
	}
	return e.Values[0].Value, true
}

func (c *comparison) linkage(l *spec.Linkage) {
	want := c.decoration(l)
	m, ok := c.text.Macro(l.Name)
	switch {
	case !ok:
		c.missing(l.Name, "a macro with the body "+quoted(want))
	case m.Body != want:
		c.report("verify-macro", m.Pos, l.Name, "%s is %s, expected %s", l.Name, quoted(m.Body), quoted(want))
	}
}

// decoration returns the expected expansion of a linkage macro in this compilation.
func (c *comparison) decoration(l *spec.Linkage) string {
	switch _, win := c.text.Macro(windows); {
	case l.Kind == spec.LinkageExternC && c.lang == layout.CXX:
		return `extern "C"`
	case l.Kind == spec.LinkageDLL && win:
		if _, exports := c.text.Macro(l.Exports); exports {
			return "__declspec(dllexport)"
		}
		return "__declspec(dllimport)"
	}
	return ""
}

func quoted(body string) string {
	if body == "" {
		return "empty"
	}
	return body
}

// includeGuard is the guard of DLPack's header since the first release. All copies must define it,
// because only the first copy in a translation unit counts.
const includeGuard = "DLPACK_DLPACK_H_"

func (c *comparison) guard() {
	if c.guards[includeGuard] {
		return
	}
	pos := diag.Pos{File: c.compiler.header}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(c.guards)), func(name string) bool { return name == "" })
	if len(names) == 0 {
		c.report("verify-guard", pos, "", "there is no include guard, expected %s", includeGuard)
		return
	}
	if m, ok := c.text.Macro(names[0]); ok {
		pos = m.Pos
	}
	c.report("verify-guard", pos, names[0], "the include guard is %s, expected %s", strings.Join(names, ", "),
		includeGuard)
}

// extras reports declarations in the header's files that the release lacks.
func (c *comparison) extras() {
	known := maps.Clone(c.guards)
	for _, d := range c.release.Decls {
		known[d.DeclName()] = true
	}
	for _, d := range c.decls {
		c.extraDecl(d, known)
	}
	for _, m := range c.text.Macros {
		c.extra(m.Name, "a macro", m.Pos, known)
	}
	for _, name := range c.Names() {
		what, pos := c.whatIs(name)
		c.extra(name, what, pos, known)
	}
}

// extraDecl does not report a wrong tag or typedef name of a known type, which the comparison of
// names reports.
func (c *comparison) extraDecl(d source.Decl, known map[string]bool) {
	if d.Body != nil && d.Kind == source.Typedef && known[d.Body.Tag] && !c.hasTypedef(d.Body.Tag) {
		known[d.Name] = true
	}
	if d.Body != nil && d.Kind != source.Typedef {
		for _, other := range c.decls {
			if other.Body == d.Body && known[other.Name] {
				known[d.Name] = true
			}
		}
	}
	if d.Name != "" {
		c.extra(d.Name, kindWord[d.Kind], d.Pos, known)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Body.Members)) {
		c.extra(name, "an enumerator", d.Body.Members[name], known)
	}
}

func (c *comparison) extra(name, what string, pos diag.Pos, known map[string]bool) {
	if !known[name] && c.own[pos.File] {
		known[name] = true
		c.report("verify-extra", pos, name, "%s is %s, expected no such name", name, what)
	}
}
