package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// deviceEnum is the enum whose values have names.
const deviceEnum = "DLDeviceType"

// names is the data of templates/python/names.h.tmpl.
type names struct {
	Version  string
	Torch    []torchType
	TorchGPU spec.TorchKeyTypes // PyTorch's cuda
	Devices  []device
	Streams  []streams
}

type device struct {
	Enumerator string
	Streams    string // the name of a table, or ""
}

type streams struct {
	Name     string
	Number   int // from 1: 0 is for devices that take none
	Doc      string
	Default  int64
	Lowest   int64 // the lowest number with a meaning
	Rejected []int64
}

func viewNames(r *spec.Release) names {
	v := names{Version: r.Version, Torch: torchTypes(r)}
	for _, k := range r.TorchKeys() {
		if k.Name == "cuda" {
			v.TorchGPU = k
		}
	}
	for _, e := range spec.Find[*spec.Enum](r, deviceEnum).Values {
		one := device{Enumerator: e.Name}
		if e.Device != nil {
			one.Streams = strings.ToUpper(e.Device.Streams)
		}
		v.Devices = append(v.Devices, one)
	}
	for i, s := range r.Streams {
		v.Streams = append(v.Streams, viewStreams(s, i+1))
	}
	return v
}

// torchType is a PyTorch type by its name in the shim, and the DLPack type.
type torchType struct {
	Name, Code  string
	Bits, Lanes int
}

func torchTypes(r *spec.Release) (out []torchType) {
	for _, d := range r.DTypes {
		if d.Torch.Type == "" {
			continue
		}
		one := torchType{d.Name, d.Code, d.Bits, d.Lanes * d.Torch.Lanes}
		if d.Torch.Lanes > 1 {
			one.Name = fmt.Sprintf("%s_x%d", d.Name, d.Torch.Lanes)
		}
		out = append(out, one)
	}
	return out
}

// viewStreams returns the stream numbers that must not be passed, from a table.
func viewStreams(t spec.StreamTable, number int) streams {
	s := streams{Name: strings.ToUpper(t.Name), Number: number, Doc: t.Doc, Default: t.Default()}
	for _, v := range t.Values {
		s.Lowest = min(s.Lowest, v.Value)
		if v.Meaning == spec.MeaningRejected {
			s.Rejected = append(s.Rejected, v.Value)
		}
	}
	return s
}

// needed are the entities that the copied files use by name.
var needed = slices.Concat([]string{
	deviceEnum, "DLDataTypeCode", "DLTensor", "DLManagedTensor", "DLManagedTensorVersioned", "DLPackExchangeAPI",
}, emit.NeededFlags)

// check reports needed entities that a user's spec lacks.
func check(r *spec.Release) error {
	var lacking []string
	for _, name := range needed {
		if !slices.ContainsFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == name }) {
			lacking = append(lacking, name)
		}
	}
	return emit.Needs(r, "modules for Python build on", append(lacking, emit.LackingNames(r)...)...)
}
