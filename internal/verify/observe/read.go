package observe

import (
	"debug/dwarf"
	"fmt"
)

// Read collects the facts of an object that was compiled with
// -fno-eliminate-unused-debug-types.
func Read(d *dwarf.Data) (*Header, error) {
	t, err := readTree(d)
	if err != nil {
		return nil, err
	}
	h := &Header{
		Records: map[string]*Record{},
		Enums:   map[string]*Enum{},
		Aliases: map[string]*Alias{},
	}
	s := newSpeller(t)
	t.each(func(n *node) { h.add(s, n) })
	return h, nil
}

func (h *Header) add(s *speller, n *node) {
	name := s.typeName(n)
	if name == "" {
		return
	}
	switch n.Tag {
	case dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagClassType:
		if known := h.Records[name]; known == nil || known.Size < 0 {
			h.Records[name] = s.record(n, name)
		}
	case dwarf.TagEnumerationType:
		h.Enums[name] = s.enum(n, name)
	case dwarf.TagTypedef:
		if target := s.of(n); target == nil || !composite(target.Tag) || s.typeName(target) != name {
			h.Aliases[name] = s.alias(n)
		}
	}
}

func (s *speller) record(n *node, name string) *Record {
	r := &Record{
		Name:  name,
		Union: n.Tag == dwarf.TagUnionType,
		Size:  n.number(dwarf.AttrByteSize, -1),
		Pos:   n.pos(),
	}
	for _, c := range n.children {
		switch c.Tag {
		case dwarf.TagMember:
			if c.Val(dwarf.AttrExternal) == nil {
				r.Members = append(r.Members, s.member(c))
			}
		case dwarf.TagInheritance:
			base := s.member(c)
			base.Name = "(base)"
			r.Members = append(r.Members, base)
		}
	}
	return r
}

func (s *speller) member(n *node) Member {
	m := Member{
		Name:   n.name(),
		Type:   s.spell(s.of(n)),
		Offset: n.number(dwarf.AttrDataMemberLoc, n.number(dwarf.AttrDataBitOffset, 0)/8),
		Size:   s.size(s.of(n)),
		Pos:    n.pos(),
	}
	if bits := n.number(dwarf.AttrBitSize, -1); bits >= 0 {
		m.Type += fmt.Sprintf(" : %d", bits)
	}
	return m
}

func (s *speller) enum(n *node, name string) *Enum {
	e := &Enum{Name: name, Size: n.number(dwarf.AttrByteSize, -1), Scoped: n.Val(dwarf.AttrEnumClass) != nil,
		Pos: n.pos()}
	if under := s.of(n); under != nil {
		e.Type, e.Signed = s.spell(under), s.signed(under)
	}
	for _, c := range n.children {
		if c.Tag == dwarf.TagEnumerator {
			e.Values = append(e.Values, Value{Name: c.name(), Value: c.number(dwarf.AttrConstValue, 0)})
		}
	}
	return e
}

func (s *speller) alias(n *node) *Alias {
	target := s.of(n)
	return &Alias{Name: n.name(), Type: s.spell(target), Size: s.size(target), Signed: s.signed(target), Pos: n.pos()}
}

// size returns the bytes of a type, or -1.
func (s *speller) size(n *node) int64 {
	if n == nil {
		return -1
	}
	switch n.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagAtomicType:
		return s.size(s.of(n))
	case dwarf.TagArrayType:
		return s.arraySize(n)
	case dwarf.TagPointerType, dwarf.TagReferenceType:
		return n.number(dwarf.AttrByteSize, s.tree.pointer)
	}
	return n.number(dwarf.AttrByteSize, -1)
}

func (s *speller) arraySize(n *node) int64 {
	size := s.size(s.of(n))
	for _, c := range n.children {
		if c.Tag == dwarf.TagSubrangeType {
			size *= max(0, c.number(dwarf.AttrCount, c.number(dwarf.AttrUpperBound, -1)+1))
		}
	}
	return size
}

// signed reports whether a type, without typedefs, is a signed integer.
func (s *speller) signed(n *node) bool {
	for n != nil && (n.Tag == dwarf.TagTypedef || n.Tag == dwarf.TagConstType || n.Tag == dwarf.TagVolatileType) {
		n = s.of(n)
	}
	const signed, signedChar = 5, 6 // DW_ATE_signed, DW_ATE_signed_char
	encoding := int64(0)
	if n != nil && n.Tag == dwarf.TagBaseType {
		encoding = n.number(dwarf.AttrEncoding, 0)
	}
	return encoding == signed || encoding == signedChar
}
