package hosts

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// extent is the size and the alignment of a type on 64-bit systems.
type extent struct{ size, align int64 }

// pointer is any pointer there.
var pointer = extent{int64(layout.LP64.Pointer), int64(layout.LP64.Pointer)}

// plain are the types of C that need no declaration.
var plain = map[string]extent{
	"char": {1, 1}, "int8_t": {1, 1}, "uint8_t": {1, 1}, "bool": {1, 1}, "int16_t": {2, 2}, "uint16_t": {2, 2},
	"int": {4, 4}, "int32_t": {4, 4}, "uint32_t": {4, 4}, "float": {4, 4}, "double": {8, 8},
	"int64_t": {8, 8}, "uint64_t": {8, 8}, "size_t": {8, 8}, "intptr_t": {8, 8}, "uintptr_t": {8, 8},
}

// protocol are the structs of DLPack there, which need no declaration either. Their layout is the
// same in every release since the first with versioned tensors.
var protocol = sync.OnceValue(func() map[string]extent {
	all := map[string]extent{}
	embedded, _ := spec.LoadEmbedded()       // valid: the command has loaded it before
	release, _ := embedded.Release("latest") // which every spec has
	for _, s := range layout.Of(release, layout.LP64, layout.C).Structs {
		all[s.Name] = extent{int64(s.Size), int64(s.Align)}
	}
	return all
})

var (
	arrayType    = regexp.MustCompile(`^(.+)\[([1-9][0-9]{0,3})\]$`)
	callbackType = regexp.MustCompile(`^([^()]+) \(\*\)\((.+)\)$`)
	pointerType  = regexp.MustCompile(`^(?:const )?([A-Za-z0-9_ ]+?) (\*|\*\*|\*const \*)$`)
	structType   = regexp.MustCompile(`\bstruct ([a-z][a-z0-9_]*)`)
)

// measure returns the size and the alignment of a type. The type may be a pointer to self.
func measure(text string, declared map[string]Struct, self string) (size, align int64, ok bool) {
	if m := arrayType.FindStringSubmatch(text); m != nil {
		count, _ := strconv.ParseInt(m[2], 10, 64)
		size, align, ok = measure(m[1], declared, "")
		return size * count, align, ok
	}
	if m := callbackType.FindStringSubmatch(text); m != nil {
		return pointer.size, pointer.align, callable(m[1], m[2], declared, self)
	}
	if m := pointerType.FindStringSubmatch(text); m != nil {
		known := m[1] == "void" || m[1] == "struct "+self
		if !known {
			_, _, known = measure(m[1], declared, self)
		}
		return pointer.size, pointer.align, known
	}
	if s, found := declared[strings.TrimPrefix(text, "struct ")]; found && strings.HasPrefix(text, "struct ") {
		return s.Size, s.Align, true
	}
	e, found := plain[text]
	if !found {
		e, found = protocol()[text]
	}
	return e.size, e.align, found
}

// callable reports whether all types of a function are known.
func callable(returns, params string, declared map[string]Struct, self string) bool {
	known := func(text string) bool { _, _, ok := measure(text, declared, self); return ok }
	if returns != "void" && !known(returns) {
		return false
	}
	for _, p := range splitParams(params) {
		if params != "void" && !known(p) {
			return false
		}
	}
	return true
}

// splitParams splits at commas outside of a callback's parameters.
func splitParams(text string) (all []string) {
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			all, start = append(all, strings.TrimSpace(text[start:i])), i+1
		}
	}
	return append(all, strings.TrimSpace(text[start:]))
}

// placement checks the offsets of a struct's fields.
type placement struct {
	declared  map[string]Struct
	self      string
	last, end int64 // the last offset, and the first byte behind all fields
	align     int64
	names     []string
}

// add adds the next field, and returns it with its size.
func (l *placement) add(n *yaml.Node, f Field) Field {
	size, align, ok := measure(f.Type, l.declared, l.self)
	switch {
	case !ok && f.Type != "":
		n.Errorf("unknown-type", "a struct must be declared before it is used",
			"field %s has the unknown type %q", f.Name, f.Type)
	case ok && f.Offset%align != 0:
		n.Errorf("invalid-layout", "", "field %s of type %s is at %d, which is not a multiple of %d", f.Name, f.Type,
			f.Offset, align)
	case f.Offset < l.end && (f.Offset != l.last || len(l.names) == 0):
		n.Errorf("invalid-layout", "", "field %s is at %d, and the fields before it end at %d", f.Name, f.Offset,
			l.end)
	}
	for _, name := range l.names {
		if name == f.Name {
			n.Errorf("duplicate-name", "", "the struct has two fields %s", name)
		}
	}
	l.last, l.end, l.align = f.Offset, max(l.end, f.Offset+size), max(l.align, align)
	l.names = append(l.names, f.Name)
	f.size = size
	return f
}

// close compares the fields with the struct's size. The last bytes need not be described.
func (l *placement) close(n *yaml.Node, s Struct) {
	switch {
	case len(l.names) == 0:
		n.Errorf("invalid-layout", "", "struct %s has no field", s.Name)
	case l.end > s.Size:
		n.Errorf("invalid-layout", "", "struct %s has %d bytes, and its fields end at %d", s.Name, s.Size, l.end)
	case l.align != s.Align:
		n.Errorf("invalid-layout", "", "struct %s is aligned to %d, and its fields to %d", s.Name, s.Align, l.align)
	case s.Size%s.Align != 0:
		n.Errorf("invalid-layout", "", "struct %s has %d bytes, which is not a multiple of %d", s.Name, s.Size, s.Align)
	}
}
