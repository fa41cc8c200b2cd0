package torch

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// dtypesView is the data of templates/torch/dtype.hpp.tmpl.
type dtypesView struct {
	Namespace, Guard string
	Types            []element
	Streams          []stream
}

// devicesView is the data of templates/torch/device_type.hpp.tmpl.
type devicesView struct {
	Namespace, Guard string
	Devices          []spec.TorchKeyTypes
}

// reader is the header that reads tensors, with the device types that the spec names.
func reader(r *spec.Release) emit.Asset {
	v := devicesView{Namespace: emit.Namespace(r), Guard: strings.ToUpper(emit.Namespace(r)), Devices: r.TorchKeys()}
	made := header("read.hpp", "aten_dlpack.hpp", "base.hpp")
	made.Parts = append(made.Parts, emit.Asset{From: "torch/device_type.hpp.tmpl", To: "device_type.hpp", View: v})
	return made
}

// element is a PyTorch type, with the DLPack type of its elements.
type element struct {
	Type, Code  string
	Bits, Lanes int
}

// stream is the number of the default stream of a device type.
type stream struct {
	Device  string
	Default int64
}

// streams lists the device types with their own memory and with numbered streams.
func streams(r *spec.Release) (out []stream) {
	for _, e := range spec.Find[*spec.Enum](r, "DLDeviceType").Values {
		if e.Device == nil || e.Device.Memory != "" || e.Device.Streams == "" {
			continue
		}
		table := slices.IndexFunc(r.Streams, func(t spec.StreamTable) bool { return t.Name == e.Device.Streams })
		out = append(out, stream{e.Name, r.Streams[table].Default()})
	}
	return out
}

// dtypes returns the types that the spec names, and the streams.
func dtypes(r *spec.Release) emit.Asset {
	v := dtypesView{Namespace: emit.Namespace(r), Guard: strings.ToUpper(emit.Namespace(r)), Streams: streams(r)}
	for _, d := range r.DTypes {
		if d.Torch.Type != "" {
			v.Types = append(v.Types, element{d.Torch.Type, d.Code, d.Bits, d.Lanes * d.Torch.Lanes})
		}
	}
	return emit.Asset{From: "torch/dtype.hpp.tmpl", To: folder + "dtype.hpp", View: v, Guards: true,
		Parts: emit.Copies("torch", "", "base.hpp")}
}
