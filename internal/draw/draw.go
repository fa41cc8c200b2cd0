// Package draw renders layouts as a text table, as JSON, and as an SVG drawing to scale. Package
// layout computes the sizes.
package draw

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// view is a table and the selection to show. It keeps the whole table, because a shown struct may
// contain one that is not shown.
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
