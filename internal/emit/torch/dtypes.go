package torch

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// dtypesView is what templates/torch/dtype.hpp.tmpl shows.
type dtypesView struct {
	Namespace, Guard string
	Types            []element
}

// element is a type of PyTorch's, and the DLPack type of its elements.
type element struct {
	Type, Code  string
	Bits, Lanes int
}

// dtypes lists the types that the spec names.
func dtypes(r *spec.Release) emit.Asset {
	v := dtypesView{Namespace: emit.Namespace(r), Guard: strings.ToUpper(emit.Namespace(r))}
	for _, d := range r.DTypes {
		if d.Torch.Type != "" {
			v.Types = append(v.Types, element{d.Torch.Type, d.Code, d.Bits, d.Lanes * d.Torch.Lanes})
		}
	}
	return emit.Asset{From: "torch/dtype.hpp.tmpl", To: folder + "dtype.hpp", View: v}
}
