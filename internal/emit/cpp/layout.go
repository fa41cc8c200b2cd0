package cpp

import (
	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// abi is the data of templates/cpp/layout.hpp.tmpl.
type abi struct {
	names
	*cdecl.ABI
}

// units are the constants and functions of layout.hpp.
var units = cdecl.Units{
	Pointer: "pointer",
	Up:      "up",
	Align: map[layout.Unit]string{
		layout.Align1:       "1",
		layout.Align2:       "2",
		layout.Align4:       "4",
		layout.AlignPointer: "pointer",
		layout.AlignInt64:   "int64",
	},
}

func viewLayout(r *spec.Release) abi {
	return abi{namesOf(r), cdecl.ABIOf(r, layout.CXX, units)}
}
