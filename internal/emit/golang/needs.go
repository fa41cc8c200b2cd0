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
	if b.path != "" { // package dlpackpy
		missing = append(missing, emit.LackingNames(b.release)...)
	}
	for _, kind := range []string{spec.NativeInt, spec.NativeUint, spec.NativeFloat} {
		if b.nativeCode(kind) == nil {
			missing = append(missing, "a type code with native: "+kind)
		}
	}
	return emit.Needs(b.release, "the bindings build on", missing...)
}
