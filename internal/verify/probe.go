package verify

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/verify/observe"
)

// The files of a probe. The first one is compiled before the header, so that an open #pragma pack
// of the header does not affect it.
const (
	beforeFile = "dlpackgen_before.h"
	probeFile  = "dlpackgen_probe.c"
	objectFile = "dlpackgen_probe.o"
)

// Prefixes of the names that probes declare.
const (
	before     = "dlpackgen_before_"
	after      = "dlpackgen_after_"
	alignment  = "dlpackgen_align_"
	value      = "dlpackgen_value_"
	twinPrefix = "dlpackgen_twin_"
	windows    = "DLPACKGEN_WINDOWS"
)

// models returns declarations of structs from which the data model is determined.
func models(prefix string) string {
	var b strings.Builder
	for _, s := range []struct{ name, decl string }{
		{"pointer", "void *v"}, {"int64", "__extension__ long long v"}, {"long", "long v"},
	} {
		fmt.Fprintf(&b, "struct %s%s { char c; %s; };\n", prefix, s.name, s.decl)
	}
	fmt.Fprintf(&b, "enum %senum { %szero };\n", prefix, prefix)
	return b.String()
}

func beforeText() string {
	return models(before) + "#ifdef _WIN32\n#define " + windows + "\n#endif\n"
}

// probes returns the lines that measure what debug information does not contain: the alignment of
// types and the values of macros. A line that the compiler rejects is omitted, and its value is
// then unknown.
func probes(types, macros []string) []string {
	var out []string
	for _, t := range types {
		name := strings.TrimPrefix(t, "struct ")
		out = append(out, fmt.Sprintf("struct %s%s { char c; %s v; };", alignment, name, t))
	}
	for _, m := range macros {
		out = append(out, fmt.Sprintf("__extension__ enum %s%s_ { %s%s = (%s) };", value, m, value, m, m))
	}
	return out
}

func probeText(lines []string) string {
	return strings.Join(append(lines, models(after)), "\n")
}

// aligned returns the offset of v after a char, which is its alignment, or 0 if it was not
// measured.
func aligned(h *observe.Header, probe string) (align, size int) {
	r := h.Records[probe]
	if r == nil || len(r.Members) != 2 {
		return 0, 0
	}
	return int(r.Members[1].Offset), int(r.Members[1].Size)
}

// dataModel returns the data model according to the probes with that prefix.
func dataModel(h *observe.Header, prefix string) layout.Model {
	var m layout.Model
	_, m.Pointer = aligned(h, prefix+"pointer")
	m.Int64Align, _ = aligned(h, prefix+"int64")
	_, m.Long = aligned(h, prefix+"long")
	if e := h.Enums[prefix+"enum"]; e != nil {
		m.ShortEnums, m.SignedEnums = e.Size < 4, e.Signed
	}
	m.Name = modelName(m)
	return m
}

// whole reports whether every number was measured.
func whole(m layout.Model) bool { return m.Pointer > 0 && m.Int64Align > 0 && m.Long > 0 }

// modelName returns the name of a known data model, or its numbers. It ignores enums, because MinGW
// has the sizes of 64-bit Windows but unsigned enums.
func modelName(m layout.Model) string {
	for _, known := range append(layout.Models(), layout.Win32) {
		if known.Pointer == m.Pointer && known.Int64Align == m.Int64Align && known.Long == m.Long &&
			known.ShortEnums == m.ShortEnums {
			return known.Name
		}
	}
	name := fmt.Sprintf("pointer %d, long %d, 64-bit integers aligned to %d", m.Pointer, m.Long, m.Int64Align)
	if m.ShortEnums {
		name += ", short enums"
	}
	return name
}
