// Package c is the target "c": dlpack.h of a release, the checks of its ABI, the
// helpers in C and the checker of arguments.
package c

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
)

// Target is the row of the table of targets. Releases older than 1.2, and specs
// without the section elements, get dlpack.h and abi_check.h alone.
var Target = emit.Target{
	Name:     "c",
	Doc:      "dlpack.h, its ABI checks and, from 1.2 on, helpers; C and C++",
	Path:     "c",
	Oldest:   "0.1",
	Manifest: manifest,
}

func manifest(m *emit.Model) (emit.Manifest, error) {
	return emit.Manifest{Assets: append(header.All(m.Release), header.Checker(m.Release)...)}, nil
}
