package header

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// check is the data of templates/c/abi_check.h.tmpl.
type check struct {
	Version string
	*cdecl.ABI
	Structs []checkedStruct
}

type checkedStruct struct {
	cdecl.Struct
	Fields []string // the arguments of DLPACKGEN_ABI_FIELD
}

func viewCheck(r *spec.Release) check {
	v := check{Version: r.Version, ABI: cdecl.ABIOf(r, layout.C, units)}
	for _, s := range v.ABI.Structs {
		v.Structs = append(v.Structs, checkedStruct{s, fieldArguments(s)})
	}
	return v
}

func fieldArguments(s cdecl.Struct) (rows []string) {
	for _, f := range s.Fields {
		rows = append(rows, strings.Join([]string{s.Type, f.Name, f.Type, f.Size, f.Offset}, ", "))
	}
	return rows
}

// units are the macros of abi_check.h.
var units = cdecl.Units{Pointer: "DLPACKGEN_ABI_PTR", Int64: "DLPACKGEN_ABI_I64", Up: "DLPACKGEN_ABI_UP"}
