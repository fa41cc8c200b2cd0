package spec

// index finds declarations by name, because emitters do so thousands of times. It is valid only for
// the slice from which it was built. If the slice of a release is replaced, declarations are
// searched linearly.
type index struct {
	decls  []Decl
	byName map[string]Decl
}

func newIndex(decls []Decl) *index {
	x := &index{decls, make(map[string]Decl, len(decls))}
	for _, d := range decls {
		x.byName[d.DeclName()] = d
	}
	return x
}

func (x *index) serves(decls []Decl) bool {
	return x != nil && len(decls) > 0 && len(x.decls) == len(decls) && &x.decls[0] == &decls[0]
}

// Find returns the declaration of that kind and name, or the zero value.
func Find[D Decl](r *Release, name string) (found D) {
	decls := r.Decls
	if r.index.serves(decls) {
		d, ok := r.index.byName[name]
		if !ok {
			return found
		}
		decls = []Decl{d}
	}
	for _, d := range decls {
		if d, ok := d.(D); ok && d.DeclName() == name {
			return d
		}
	}
	return found
}
