package verify

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/source"
)

// comparison compares one release with the observed header.
type comparison struct {
	*found
	release   *spec.Release
	table     *layout.Table
	positions *positions
	diags     diag.List
}

// compare returns every difference between the header and a release, by position.
func compare(f *found, r *spec.Release, p *positions) []diag.Diagnostic {
	c := &comparison{found: f, release: r, table: layout.Of(r, f.expected(), f.lang), positions: p}
	c.guard()
	c.packing()
	c.builtins()
	for _, d := range r.Decls {
		c.declaration(d)
	}
	c.extras()
	return c.diags.Sorted()
}

// expected returns the data model that determines the header's expected layout. It reverts the
// effect of a packing flag of the compiler, which applies to the probes too.
func (f *found) expected() layout.Model {
	m := f.model
	if f.packed() {
		m.Int64Align = 8
	}
	return m
}

// packed reports whether structs are packed before the header begins.
func (f *found) packed() bool {
	align, size := aligned(f.Header, before+"pointer")
	return align < size
}

func (c *comparison) packing() {
	whole := diag.Pos{File: c.compiler.header}
	if c.packed() {
		c.report("verify-pack", whole, "", "structs are packed before the header begins, expected natural alignment")
	}
	if c.left.Int64Align != c.model.Int64Align {
		c.report("verify-pack", whole, "",
			"the header ends with 64-bit integers aligned to %d, expected %d as before it: a #pragma pack is "+
				"left open",
			c.left.Int64Align, c.model.Int64Align)
	}
	if c.model.ShortEnums && c.lang == layout.C {
		c.note("verify-short-enums", "this compiler uses short enums: structs differ from those of other compilers")
	}
}

func (c *comparison) declaration(d spec.Decl) {
	switch d := d.(type) {
	case *spec.Linkage:
		c.linkage(d)
	case *spec.Macro:
		c.number(d.Name, d.Literal, d.Value)
	case *spec.Flag:
		c.number(d.Name, cdecl.Flag(d), int64(d.Value()))
	case *spec.Enum:
		c.enum(d)
	case *spec.Struct:
		c.record(d)
	case *spec.Alias:
		c.alias(d)
	case *spec.Callback:
		c.callback(d)
	}
}

// report adds a difference. The column points at the word.
func (c *comparison) report(code string, pos diag.Pos, word, format string, args ...any) {
	c.add(diag.Error, code, pos, word, fmt.Sprintf(format, args...))
}

func (c *comparison) note(code, text string) {
	c.add(diag.Note, code, diag.Pos{File: c.compiler.header}, "", text)
}

func (c *comparison) add(severity diag.Severity, code string, pos diag.Pos, word, text string) {
	if pos.File == "" {
		pos = diag.Pos{File: c.compiler.header}
	}
	at, line := c.positions.at(pos, word)
	c.diags.Add(diag.Diagnostic{Severity: severity, Code: code, Pos: at, Text: text, Source: line})
}

// missing reports a name of the release that the header lacks, or declares as
// something else.
func (c *comparison) missing(name, want string) {
	got, pos := c.whatIs(name)
	if got == "" {
		c.report("verify-missing", pos, "", "%s is not declared, expected %s", name, want)
		return
	}
	c.report("verify-kind", pos, name, "%s is %s, expected %s", name, got, want)
}

// whatIs describes a declared name, or returns "".
func (c *comparison) whatIs(name string) (string, diag.Pos) {
	if r := c.Records[name]; r != nil {
		return recordWord(r), r.Pos
	}
	if e := c.Enums[name]; e != nil {
		return "an enum", e.Pos
	}
	if a := c.Aliases[name]; a != nil {
		return "a typedef of " + a.Type, a.Pos
	}
	if m, ok := c.text.Macro(name); ok {
		return "a macro", m.Pos
	}
	for _, d := range c.decls {
		if d.Name == name {
			return kindWord[d.Kind], d.Pos
		}
	}
	return "", diag.Pos{}
}

var kindWord = map[source.Kind]string{
	source.Typedef:   "a typedef",
	source.Record:    "a struct",
	source.Enum:      "an enum",
	source.Function:  "a function",
	source.Variable:  "a variable",
	source.Namespace: "a namespace",
}

// plain removes the keywords that C requires before a tag, because the comparison must not depend
// on whether the typedef was already declared.
func plain(ctype string) string {
	return strings.NewReplacer("struct ", "", "enum ", "").Replace(ctype)
}
