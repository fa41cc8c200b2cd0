package abi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// probe is a translation unit that asserts every number of a table for the structs of the emitted
// dlpack.h.
type probe struct {
	strings.Builder
	table *layout.Table
}

// source returns the unit. It needs no library, so it compiles for any target.
func source(table *layout.Table) string {
	p := &probe{table: table}
	p.WriteString("#include <stddef.h>\n#include <stdint.h>\n#include <dlpack/dlpack.h>\n")
	for _, e := range table.Enums {
		p.enum(e)
	}
	for _, s := range table.Structs {
		p.structure(s)
	}
	return p.String()
}

// check adds an assert; its message is the compiler's error.
func (p *probe) check(condition, message string) {
	word := "_Static_assert"
	if p.table.Lang == layout.CXX {
		word = "static_assert"
	}
	fmt.Fprintf(p, "%s(%s, %q);\n", word, condition, message)
}

// align asserts the alignment of a declaration inside a struct: elsewhere, i386 aligns 64-bit
// integers differently.
func (p *probe) align(name, declaration, member string, want int) {
	fmt.Fprintf(p, "struct probe_%s { char first; %s; };\n", name, declaration)
	p.check(fmt.Sprintf("offsetof(struct probe_%s, %s) == %d", name, member, want), name+": align")
}

// enum asserts the sign of the underlying type in C++, where an enum cannot contain -1 unless a
// value is negative.
func (p *probe) enum(e layout.Enum) {
	p.check(fmt.Sprintf("sizeof(%s) == %d", e.Name, e.Size), e.Name+": size")
	p.align(e.Name, e.Name+" x", "x", e.Align)
	carrier := e.Name
	if p.table.Lang == layout.CXX {
		carrier = "__underlying_type(" + e.Name + ")"
	}
	p.check(fmt.Sprintf("((%s)-1 < 0) == %d", carrier, number(e.Signed)), e.Name+": sign")
}

// number returns a boolean as C code, because true needs a header before C23.
func number(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

func (p *probe) structure(s layout.Struct) {
	spell := cdecl.Of(p.table.Release)
	name := spell.Name(s.Name)
	p.check(fmt.Sprintf("sizeof(%s) == %d", name, s.Size), s.Name+": size")
	p.align(s.Name, name+" x", "x", s.Align)
	for _, f := range s.Fields {
		at := s.Name + "_" + f.Name
		p.check(fmt.Sprintf("offsetof(%s, %s) == %d", name, f.Name, f.Offset), at+": offset")
		p.check(fmt.Sprintf("sizeof(((%s *)0)->%s) == %d", name, f.Name, f.Size), at+": size")
		p.align(at, spell.Declare(f.Type, f.Name), f.Name, f.Align)
	}
}

// A number that the probe omits would not be proved.
func TestAProbeAssertsEveryNumber(t *testing.T) {
	table := layout.Of(release(t, "1.3"), layout.LP64, layout.C)
	text := source(table)
	asserts := 3 * len(table.Enums)
	for _, s := range table.Structs {
		asserts += 2 + 3*len(s.Fields)
	}
	assert.Equal(t, asserts, strings.Count(text, "_Static_assert("))
	require.Positive(t, asserts)
}
