// Package observe converts a compiler's information about a header (its debug information and
// preprocessed text) into plain data: structs, enums, typedefs and macros. It compares nothing.
package observe

import (
	"maps"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Header contains the declarations of a translation unit. The keys of maps are the names that C++
// and typedefs use: the typedef name if there is one, else the tag.
type Header struct {
	Records map[string]*Record
	Enums   map[string]*Enum
	Aliases map[string]*Alias
}

// Names returns all names in order.
func (h *Header) Names() []string {
	out := slices.Concat(slices.Collect(maps.Keys(h.Records)), slices.Collect(maps.Keys(h.Enums)),
		slices.Collect(maps.Keys(h.Aliases)))
	slices.Sort(out)
	return slices.Compact(out)
}

// Record is a struct, union or class.
type Record struct {
	Name    string
	Union   bool
	Size    int64 // bytes; -1 when it is only announced
	Members []Member
	Pos     diag.Pos
}

// Member is one field.
type Member struct {
	Name   string
	Type   string // spelled as in C, without struct, union and enum
	Offset int64  // bytes
	Size   int64  // bytes; -1 when it is not known
	Pos    diag.Pos
}

// Enum is an enumeration.
type Enum struct {
	Name   string
	Size   int64  // bytes
	Type   string // underlying type as the compiler chose it; "" when it does not say
	Signed bool
	Scoped bool // an enum class
	Values []Value
	Pos    diag.Pos
}

// Value is one enumerator.
type Value struct {
	Name  string
	Value int64
}

// Alias is a typedef of anything but a struct, union or enum without a name of
// its own.
type Alias struct {
	Name   string
	Type   string // spelled as in C
	Size   int64  // bytes; -1 when it is not known
	Signed bool
	Pos    diag.Pos
}
