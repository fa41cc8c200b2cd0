package cpp

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// storage is the data of templates/cpp/storage.hpp.tmpl.
type storage struct {
	names
	Stored []stored
}

// stored is a type for the bits of an element.
type stored struct {
	dtype
	Width int    // of the integer that holds the bits
	Bytes int    // of the element
	Part  string // the type of both halves of a complex number, else ""
}

// native are the widths of C++ types, by the kind of number. For complex numbers, these are the
// types of the standard library.
var native = map[string][]int{
	"int": {8, 16, 32, 64}, "uint": {8, 16, 32, 64}, "float": {32, 64}, "bool": {8},
}

// isNative reports whether C++ has a type for the elements of a data type.
func isNative(r *spec.Release, d spec.DType) bool {
	code := r.CodeOf(d)
	if code.Part != "" {
		return slices.Contains(native[r.Rule(code.Part).Native], d.Bits/code.Parts())
	}
	return slices.Contains(native[code.Native], d.Bits)
}

func viewStorage(r *spec.Release) storage {
	v := storage{names: namesOf(r)}
	held := map[string]bool{}
	for i, d := range dtypesOf(r) {
		if isNative(r, r.DTypes[i]) || d.Lanes != 1 {
			continue
		}
		part, _ := r.PartOf(r.DTypes[i])
		s := stored{dtype: d, Bytes: int(d.Bits+7) / 8, Part: part.Name}
		s.Width = s.Bytes * 8
		if s.Part != "" && !held[s.Part] || s.Part == "" && s.Bytes > 2 {
			continue // its alignment is unknown
		}
		held[d.Name] = true
		v.Stored = append(v.Stored, s)
	}
	return v
}
