package cpp

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// storage is what templates/cpp/storage.hpp.tmpl shows.
type storage struct {
	names
	Stored []stored
}

// stored is a type that holds the bits of an element.
type stored struct {
	dtype
	Width int    // of the integer that holds the bits
	Bytes int    // of the element
	Part  string // the type of both halves of a complex number, else ""
}

// native are the widths that C++ has types for, by code; complex numbers have
// those of its library.
var native = map[string][]int{
	"kDLInt": {8, 16, 32, 64}, "kDLUInt": {8, 16, 32, 64}, "kDLFloat": {32, 64}, "kDLBool": {8}, "kDLComplex": {64, 128},
}

// parts are what the short complex numbers consist of, by code.
var parts = map[string]string{"kDLComplex": "float16", "kDLBcomplex": "bfloat16"}

func viewStorage(r *spec.Release) storage {
	v := storage{names: namesOf(r)}
	held := map[string]bool{}
	for i, d := range dtypesOf(r) {
		code := r.DTypes[i].Code
		if slices.Contains(native[code], r.DTypes[i].Bits) || d.Lanes != 1 {
			continue
		}
		s := stored{dtype: d, Bytes: int(d.Bits+7) / 8, Part: parts[code]}
		s.Width = s.Bytes * 8
		if s.Part != "" && !held[s.Part] || s.Part == "" && s.Bytes > 2 {
			continue // nothing tells how it is aligned
		}
		held[d.Name] = true
		v.Stored = append(v.Stored, s)
	}
	return v
}
