package observe

import (
	"debug/dwarf"
	"fmt"
	"strings"
)

// speller formats types in C. A struct or enum with a typedef name is formatted as that name,
// without a keyword.
type speller struct {
	*tree
	names map[dwarf.Offset]string // preferred names of structs, unions and enums
}

func newSpeller(t *tree) *speller {
	s := &speller{tree: t, names: map[dwarf.Offset]string{}}
	t.each(func(n *node) {
		target := t.of(n)
		if n.Tag != dwarf.TagTypedef || target == nil || !composite(target.Tag) {
			return
		}
		if s.names[target.Offset] == "" || n.name() == target.name() {
			s.names[target.Offset] = n.name()
		}
	})
	return s
}

func composite(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagClassType, dwarf.TagEnumerationType:
		return true
	}
	return false
}

// typeName returns the name under which a struct, union or enum is known.
func (s *speller) typeName(n *node) string {
	if name := s.names[n.Offset]; name != "" {
		return name
	}
	return n.name()
}

func (s *speller) spell(n *node) string { return s.declare(n, "") }

// The words of declarations, by the tag of their type.
var (
	marks = map[dwarf.Tag]string{dwarf.TagPointerType: "*", dwarf.TagReferenceType: "&",
		dwarf.TagRvalueReferenceType: "&&"}

	qualifiers = map[dwarf.Tag]string{dwarf.TagConstType: "const", dwarf.TagVolatileType: "volatile",
		dwarf.TagRestrictType: "restrict", dwarf.TagAtomicType: "_Atomic"}
)

// declare formats the declaration of inner, which may be "", with type n.
func (s *speller) declare(n *node, inner string) string {
	if n == nil {
		return join("void", inner)
	}
	elem := s.of(n)
	if mark := marks[n.Tag]; mark != "" {
		return s.indirect(elem, mark, inner)
	}
	if qualifier := qualifiers[n.Tag]; qualifier != "" {
		return s.qualified(elem, qualifier, inner)
	}
	switch n.Tag {
	case dwarf.TagArrayType:
		return s.declare(elem, inner+extent(n))
	case dwarf.TagSubroutineType:
		return s.declare(elem, inner+s.parameters(n))
	}
	return join(s.plain(n), inner)
}

// plain formats a type that is a name.
func (s *speller) plain(n *node) string {
	name := s.typeName(n)
	switch {
	case name == "":
		return "(anonymous)"
	case n.Tag == dwarf.TagBaseType:
		return baseName(name)
	}
	return name
}

func (s *speller) indirect(elem *node, mark, inner string) string {
	inner = mark + inner
	if elem != nil && (elem.Tag == dwarf.TagArrayType || elem.Tag == dwarf.TagSubroutineType) {
		inner = "(" + inner + ")"
	}
	return s.declare(elem, inner)
}

// qualified writes the qualifiers of a pointer after its star, and other qualifiers before the
// type, const first. Compilers nest const and volatile in any order.
func (s *speller) qualified(elem *node, word, inner string) string {
	if elem != nil && elem.Tag == dwarf.TagPointerType {
		return s.declare(elem, strings.TrimSpace(" "+word+" "+inner))
	}
	base := s.declare(elem, inner)
	if rest, ok := strings.CutPrefix(base, "const "); ok && word != "const" {
		return "const " + word + " " + rest
	}
	return word + " " + base
}

func (s *speller) parameters(n *node) string {
	var out []string
	for _, c := range n.children {
		switch c.Tag {
		case dwarf.TagFormalParameter:
			out = append(out, s.spell(s.of(c)))
		case dwarf.TagUnspecifiedParameters:
			out = append(out, "...")
		}
	}
	if len(out) == 0 && (!s.isC || n.Val(dwarf.AttrPrototyped) != nil) {
		out = []string{"void"}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// extent formats the dimensions of an array; an unknown one is [].
func extent(n *node) string {
	var out strings.Builder
	for _, c := range n.children {
		if c.Tag != dwarf.TagSubrangeType {
			continue
		}
		count := c.number(dwarf.AttrCount, c.number(dwarf.AttrUpperBound, -1)+1)
		if count > 0 {
			fmt.Fprintf(&out, "[%d]", count)
		} else {
			out.WriteString("[]")
		}
	}
	return out.String()
}

func join(name, inner string) string {
	if inner == "" {
		return name
	}
	return name + " " + inner
}

// baseName returns the usual order of the words of a type: GCC writes "long unsigned int", clang
// "unsigned long".
func baseName(name string) string {
	words := strings.Fields(name)
	var unsigned bool
	var out []string
	for _, w := range words {
		switch {
		case w == "unsigned":
			unsigned = true
		case w == "int" && len(words) > 1 && name != "unsigned int":
		default:
			out = append(out, w)
		}
	}
	if unsigned {
		out = append([]string{"unsigned"}, out...)
	}
	return strings.Join(out, " ")
}
