package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Debug information is incomplete: GCC omits calling conventions, clang omits some of them, and
// both omit _Atomic in DWARF 4. A compiler compares whole types when a variable is declared
// twice. So the probes declare twins: a variable with the type of a release, and again with the
// type in the header. The types differ if the compiler rejects the line.

// twin is a field or a callback with its type in a release.
type twin struct{ where, ctype string }

// twinLines are the probes of a twin.
type twinLines struct {
	control string // only the type of the release: rejected if the header cannot express it
	whole   string // all of the type
	call    string // what a call of a function pointer depends on; "" for other types
}

// rejectedTwin reports whether the compiler rejected a line though it accepts the release's type.
func (f *found) rejectedTwin(lines twinLines, line string) bool {
	return f.rejected[line] && !f.rejected[lines.control]
}

// setTwins collects the twins of every release for the header's declarations.
func (f *found) setTwins(releases []*spec.Release) {
	f.twins = map[twin]twinLines{}
	for _, r := range releases {
		spell := cdecl.Of(r)
		for _, d := range r.Decls {
			switch d := d.(type) {
			case *spec.Struct:
				f.setFieldTwins(spell, d)
			case *spec.Callback:
				f.setTwin(spell, d.Name, fmt.Sprintf("(*(%s *)0)", d.Name),
					spec.Type{Kind: spec.Function, Func: &d.Func})
			}
		}
	}
}

func (f *found) setFieldTwins(spell cdecl.Speller, s *spec.Struct) {
	name := s.Name
	if !f.hasTypedef(name) {
		name = "struct " + name
	}
	for _, field := range s.Fields {
		f.setTwin(spell, s.Name+"."+field.Name, fmt.Sprintf("((%s *)0)->%s", name, field.Name), field.Type)
	}
}

// setTwin adds a twin. A C expression refers to it in the header.
func (f *found) setTwin(spell cdecl.Speller, where, place string, t spec.Type) {
	ctype := spell.Type(t)
	key := twin{where, ctype}
	if _, known := f.twins[key]; known {
		return
	}
	n := len(f.twins)
	pointer := func(name string) string {
		return "extern " + spell.Declare(spec.Type{Kind: spec.Pointer, Elem: &t}, fmt.Sprintf("%s%d", name, n)) + ";"
	}
	lines := twinLines{
		control: pointer(twinPrefix + "control_"),
		whole: pointer(twinPrefix+"whole_") + fmt.Sprintf(" extern __typeof__(&%s) %swhole_%d;", place, twinPrefix,
			n),
	}
	if t.Kind == spec.Function {
		lines.call = fmt.Sprintf("extern __typeof__(&*(%s)0) %[2]scall_%[3]d; extern __typeof__(&*%[4]s) "+
			"%[2]scall_%[3]d;", ctype, twinPrefix, n, place)
	}
	f.twins[key] = lines
}

// twinProbes returns the lines of all twins. Other probes report a macro that hides a type from
// clients; it must not hide the type from these lines.
func (f *found) twinProbes(releases []*spec.Release) []string {
	lines := map[string]bool{}
	for _, r := range releases {
		for _, d := range r.Decls {
			if !isNumber(d) {
				lines["#undef "+d.DeclName()] = true
			}
		}
	}
	for _, twin := range f.twins {
		lines[twin.control], lines[twin.whole] = true, true
		if twin.call != "" {
			lines[twin.call] = true
		}
	}
	return slices.Sorted(maps.Keys(lines)) // each #undef comes first
}

// compareTwin reports a difference that debug information omits, for a type that is spelled as in
// the release.
func (c *comparison) compareTwin(where string, pos diag.Pos, word string, spell cdecl.Speller, t spec.Type) {
	ctype := spell.Type(t)
	lines := c.twins[twin{where, ctype}]
	switch {
	case !c.rejectedTwin(lines, lines.whole):
	case c.rejectedTwin(lines, lines.call):
		c.report("verify-convention", pos, word, "calling convention of %s is not the default, expected a plain %s",
			where, plain(ctype))
	default:
		c.report("verify-field-type", pos, word,
			"type of %s is atomic, or has an address space or reverse byte order, expected a plain %s", where,
			plain(ctype))
	}
}
