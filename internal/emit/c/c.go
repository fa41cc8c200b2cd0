// Package c implements target "c": dlpack.h of a release, the checks of its ABI, the C helpers and
// the checker of arguments.
package c

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
)

// Target is the row of the table of targets. For releases before 1.2, and for specs without the
// section `elements`, it generates only dlpack.h and abi_check.h.
var Target = emit.Target{
	Name:   "c",
	Doc:    "dlpack.h, its ABI checks and, from 1.2 on, helpers; C and C++",
	Path:   "c",
	Oldest: "0.1",
	Options: []emit.Option{{Name: optionPackage, Default: "false", Bool: true, Unprefixed: true,
		Doc: "true: also files with which CMake (find_package) and pkg-config find the headers"}},
	Manifest:   manifest,
	Prefixable: true,
	Interface:  header.DLPack,
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	return emit.Manifest{Assets: slices.Concat(header.All(m.Release), header.Checker(m.Release), packages(m))}, nil
}
