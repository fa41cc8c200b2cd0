package header

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// codes is the data of templates/c/codes.h.tmpl: names of enumerators.
type codes struct {
	Version      string
	Devices      []string
	HostReadable []string
	Addressed    []string // DLTensor.data is an address, not a handle
	Host         []string // the host's own memory
	Managed      []string // memory that host and devices share
	IDZero       []string // the device id is always 0
	Owned        []owned
	Protocol     []protocolName
	Python       spec.Python
	Codes        []string
	NullBefore   int // the minor version before which strides may be NULL
}

// owned is a device type, with the device type whose runtime allocates its memory.
type owned struct{ Name, Of string }

// protocolName is a name of the Python protocol.
type protocolName struct{ Macro, Text, Doc string }

// viewProtocol returns the names of the Python protocol that a spec has.
func viewProtocol(p spec.Python) (all []protocolName) {
	for _, n := range []protocolName{
		{"DLPACKGEN_CAPSULE", p.Capsule.Fresh, "The capsule of a DLManagedTensor."},
		{"DLPACKGEN_CAPSULE_USED", p.Capsule.Used, "The same capsule, after a consumer has taken the tensor."},
		{"DLPACKGEN_CAPSULE_VERSIONED", p.Versioned.Fresh, "The capsule of a DLManagedTensorVersioned."},
		{"DLPACKGEN_CAPSULE_VERSIONED_USED", p.Versioned.Used,
			"The same capsule, after a consumer has taken the tensor."},
		{"DLPACKGEN_CAPSULE_EXCHANGE_API", p.ExchangeCapsule, "The capsule of an exchange table."},
		{"DLPACKGEN_ATTRIBUTE_EXCHANGE_API", p.ExchangeAttr, "The attribute of a type with that capsule."},
		{"DLPACKGEN_ATTRIBUTE_OLDER_EXCHANGE_API", p.OlderExchange,
			"The attribute of older releases, with the address of the table as an int."},
	} {
		if n.Text != "" {
			all = append(all, n)
		}
	}
	return all
}

func viewCodes(r *spec.Release) codes {
	v := codes{Version: r.Version, NullBefore: r.NullStridesBefore(), Protocol: viewProtocol(r.NewestPython),
		Python: r.NewestPython}
	for _, device := range spec.Find[*spec.Enum](r, deviceEnum).Values {
		v.Devices = append(v.Devices, device.Name)
		if device.Device != nil {
			v.add(device.Name, device.Device)
		}
	}
	for _, code := range spec.Find[*spec.Enum](r, codeEnum).Values {
		v.Codes = append(v.Codes, code.Name)
	}
	return v
}

func (v *codes) add(name string, rule *spec.DeviceRule) {
	if rule.HostReadable {
		v.HostReadable = append(v.HostReadable, name)
	}
	if !rule.Opaque {
		v.Addressed = append(v.Addressed, name)
	}
	if rule.OnHost() {
		v.Host = append(v.Host, name)
	}
	if rule.Memory == spec.MemoryManaged {
		v.Managed = append(v.Managed, name)
	}
	if rule.IDZero {
		v.IDZero = append(v.IDZero, name)
	}
	if rule.Of != "" {
		v.Owned = append(v.Owned, owned{name, rule.Of})
	}
}

// elements is the data of templates/c/elements.h.tmpl.
type elements struct {
	PackedBelow   int
	PaddedFlag    string
	Widths        []group // by bits
	Parts         []group // by parts, of more than one
	Alignments    []alignment
	DataAlignment int
	Limits        spec.Limits
}

// group is the type codes with a common number.
type group struct {
	Number int
	Labels []string // of a switch
}

type alignment struct{ Bits, Bytes int }

func viewElements(r *spec.Release) elements {
	v := elements{PackedBelow: r.Elements.PackedBelow, PaddedFlag: "0U",
		DataAlignment: r.Elements.DataAlignment, Limits: r.Limits}
	if flag := spec.Find[*spec.Flag](r, r.Elements.PaddedBy); flag != nil {
		v.PaddedFlag = fmt.Sprintf("%dU", flag.Value())
	}
	for _, bytes := range r.Elements.Alignments {
		v.Alignments = append(v.Alignments, alignment{8 * bytes, bytes})
	}
	v.Widths = grouped(r.Codes, func(c spec.CodeRule) int { return c.Bits }, 0)
	v.Parts = grouped(r.Codes, spec.CodeRule.Parts, 1)
	return v
}

// grouped groups the codes by a number, in the order of the spec, without the codes of the default
// number.
func grouped(all []spec.CodeRule, number func(spec.CodeRule) int, usual int) (out []group) {
	at := map[int]int{}
	for _, code := range all {
		n := number(code)
		if n == usual {
			continue
		}
		if _, known := at[n]; !known {
			at[n] = len(out)
			out = append(out, group{Number: n})
		}
		out[at[n]].Labels = append(out[at[n]].Labels, fmt.Sprintf("    case %d: /* %s */", code.Value, code.Name))
	}
	for _, g := range out {
		last := len(g.Labels) - 1 // on the line of the statement
		copy(g.Labels, cformat.AlignComments(g.Labels[:last]))
	}
	return out
}
