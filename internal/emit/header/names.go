package header

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// names is the data of templates/c/names.h.tmpl.
type names struct {
	Version string
	DTypes  []dtype
	Devices []device
}

type dtype struct {
	Name, Macro string
	Code        string // an enumerator
	Bits, Lanes int
}

type device struct{ Name, Enumerator string }

func viewNames(r *spec.Release) names {
	v := names{Version: r.Version}
	for _, d := range r.DTypes {
		v.DTypes = append(v.DTypes,
			dtype{d.Name, "DLPACKGEN_DTYPE_" + strings.ToUpper(d.Name), d.Code, d.Bits, d.Lanes})
	}
	for _, e := range spec.Find[*spec.Enum](r, deviceEnum).Values {
		v.Devices = append(v.Devices, device{strings.ToLower(strings.TrimPrefix(e.Name, "kDL")), e.Name})
	}
	return v
}
