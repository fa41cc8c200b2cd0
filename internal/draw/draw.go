// Package draw shows layouts: as a table of text, as JSON for programs, and as
// an SVG picture to scale. It computes no size; package layout has done that.
package draw

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// view is a table and what of it is shown. The rest stays within reach, since a
// struct that is shown may hold one that is not.
type view struct {
	*layout.Table
	structs []layout.Struct
	enums   []layout.Enum
}

// views shows the named structs and enums of each table, or all of them for no
// names. A name that no table has is ignored.
func views(tables []*layout.Table, names []string) []view {
	var out []view
	for _, t := range tables {
		v := view{Table: t}
		for _, s := range t.Structs {
			if len(names) == 0 || slices.Contains(names, s.Name) {
				v.structs = append(v.structs, s)
			}
		}
		for _, e := range t.Enums {
			if len(names) == 0 || slices.Contains(names, e.Name) {
				v.enums = append(v.enums, e)
			}
		}
		out = append(out, v)
	}
	return out
}

func sign(e layout.Enum) string {
	if e.Signed {
		return "signed"
	}
	return "unsigned"
}
