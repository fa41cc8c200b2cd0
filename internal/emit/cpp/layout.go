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
var units = cdecl.Units{Pointer: "pointer", Int64: "int64", Up: "up"}

func viewLayout(r *spec.Release) abi {
	return abi{namesOf(r), cdecl.ABIOf(r, layout.CXX, units)}
}
