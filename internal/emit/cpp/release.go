package cpp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The enums whose values the headers describe.
const (
	deviceEnum = "DLDeviceType"
	codeEnum   = "DLDataTypeCode"
)

// flagPrefix is the prefix that the namespace `flags` replaces.
const flagPrefix = "DLPACK_FLAG_BITMASK_"

// release is the data of templates/cpp/release.hpp.tmpl.
type release struct {
	names
	Major, Minor int64
	Flags        []number
	DTypes       []dtype
	Devices      []number
	HostReadable []number
	Addressed    []number // DLTensor.data is an address, not a handle
	Host         []number // the host's own memory
	Managed      []number // memory that host and devices share
	IDZero       []number // the device id is always 0
	Codes        []number
	NullBefore   int // the minor version before which strides may be NULL
}

type number struct {
	Name  string
	Value string
}

type dtype struct {
	Name, Identifier  string
	Code, Bits, Lanes int64
	Key               string // all three in one
}

func viewRelease(r *spec.Release) release {
	v := release{names: namesOf(r), NullBefore: r.NullStridesBefore()}
	v.Major = spec.Find[*spec.Macro](r, "DLPACK_MAJOR_VERSION").Value
	v.Minor = spec.Find[*spec.Macro](r, "DLPACK_MINOR_VERSION").Value
	for _, f := range spec.Of[*spec.Flag](r) {
		name := strings.ToLower(strings.TrimPrefix(f.Name, flagPrefix))
		v.Flags = append(v.Flags, number{name, fmt.Sprint(f.Value())})
	}
	for _, device := range spec.Find[*spec.Enum](r, deviceEnum).Values {
		entry := number{device.Name, fmt.Sprint(device.Value)}
		v.Devices = append(v.Devices, entry)
		v.add(entry, device.Device)
	}
	for _, code := range spec.Find[*spec.Enum](r, codeEnum).Values {
		v.Codes = append(v.Codes, number{code.Name, fmt.Sprint(code.Value)})
	}
	v.DTypes = dtypesOf(r)
	return v
}

// add adds a device type to the lists that its rule selects.
func (v *release) add(entry number, rule *spec.DeviceRule) {
	if rule == nil {
		return
	}
	if rule.HostReadable {
		v.HostReadable = append(v.HostReadable, entry)
	}
	if !rule.Opaque {
		v.Addressed = append(v.Addressed, entry)
	}
	if rule.IDZero {
		v.IDZero = append(v.IDZero, entry)
	}
	if rule.OnHost() {
		v.Host = append(v.Host, entry)
	}
	if rule.Memory == spec.MemoryManaged {
		v.Managed = append(v.Managed, entry)
	}
}

// dtypesOf returns the data types of a release.
func dtypesOf(r *spec.Release) []dtype {
	values := map[string]int64{}
	for _, code := range spec.Find[*spec.Enum](r, codeEnum).Values {
		values[code.Name] = code.Value
	}
	var out []dtype
	for _, d := range r.DTypes {
		code := values[d.Code]
		key := fmt.Sprintf("0x%08XU", code<<24|int64(d.Bits)<<16|int64(d.Lanes))
		out = append(out, dtype{d.Name, identifier(d.Name), code, int64(d.Bits), int64(d.Lanes), key})
	}
	return out
}

// keywords are C++ keywords that may be names of data types.
var keywords = []string{"bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void"}

// identifier returns a valid C++ identifier for a name, such as bool_.
func identifier(name string) string {
	if slices.Contains(keywords, name) {
		return name + "_"
	}
	return name
}
