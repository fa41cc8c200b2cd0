package golang

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// checkNeeds reports entities that the runtime uses by name and a user's spec lacks.
func (b *binding) checkNeeds() error {
	missing := emit.Lacking(b.release)
	for _, name := range []string{"uint8", "uint16"} {
		if !slices.ContainsFunc(b.release.DTypes, func(d spec.DType) bool { return d.Name == name }) {
			missing = append(missing, "the data type "+name)
		}
	}
	return emit.Needs(b.release, "the bindings build on", missing...)
}
