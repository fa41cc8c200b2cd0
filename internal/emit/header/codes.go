package header

import "github.com/dlpackgen/dlpackgen/internal/spec"

// codes is what templates/c/dlpack_codes.h.tmpl shows: names of enumerators.
type codes struct {
	Version      string
	Devices      []string
	HostReadable []string
	Addressed    []string // DLTensor.data is an address, not a handle
	Codes        []string
}

func viewCodes(r *spec.Release) codes {
	v := codes{Version: r.Version}
	for _, device := range spec.Find[*spec.Enum](r, deviceEnum).Values {
		v.Devices = append(v.Devices, device.Name)
		if device.Device != nil && device.Device.HostReadable {
			v.HostReadable = append(v.HostReadable, device.Name)
		}
		if device.Device != nil && !device.Device.Opaque {
			v.Addressed = append(v.Addressed, device.Name)
		}
	}
	for _, code := range spec.Find[*spec.Enum](r, codeEnum).Values {
		v.Codes = append(v.Codes, code.Name)
	}
	return v
}
