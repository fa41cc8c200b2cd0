package spec

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// elementsDef is the section `elements`, with the position of the flag's name.
type elementsDef struct {
	Elements
	flag *yaml.Node
}

// alignments are the alignments for which C has types.
var alignments = []int{2, 4, 8, 16}

// The limits of the alignment of data, which is a power of two.
const (
	minDataAlignment = 16
	maxDataAlignment = 4096
)

func (d *decoder) elements(n *yaml.Node) {
	m := n.Map("elements")
	e := &d.spec.elements
	if v := m.Require("packed_below"); v != nil {
		e.PackedBelow = int(v.Int("packed_below", 1, 8))
	}
	if e.PaddedBy = m.RequireText("padded_by"); e.PaddedBy != "" {
		e.flag = m.Get("padded_by")
	}
	for _, item := range requireList(m, "alignments") {
		size := int(item.Int("an alignment", 2, 16))
		if !slices.Contains(alignments, size) {
			item.Errorf("out-of-range", "", "an alignment must be one of %v, not %d", alignments, size)
		}
		e.Alignments = append(e.Alignments, size)
	}
	if v := m.Require("data_alignment"); v != nil {
		e.DataAlignment = int(v.Int("data_alignment", minDataAlignment, maxDataAlignment))
		if n := e.DataAlignment; n&(n-1) != 0 {
			v.Errorf("out-of-range", "", "data_alignment must be a power of two, not %d", n)
		}
	}
	m.Close()
}

func (d *decoder) limits(m *yaml.Map) {
	if v := m.Require("ndim"); v != nil {
		d.spec.limits.NDim = int(v.Int("ndim", 1, 64))
	}
	if v := m.Require("exchange_chain"); v != nil {
		d.spec.limits.ExchangeChain = int(v.Int("exchange_chain", 1, 1000))
	}
	m.Close()
}

var (
	memories = []string{MemoryHost, MemoryPinned, MemoryManaged}
	natives  = []string{NativeInt, NativeUint, NativeFloat, NativeBool}
)

func readMemory(m *yaml.Map, d *DeviceRule) {
	if n := m.Get("memory"); n != nil {
		d.Memory = n.OneOf("memory", memories)
	}
	d.Of = m.Text("of")
}

func readElementRule(m *yaml.Map) *ElementRule {
	rule := &ElementRule{Part: m.Text("part")}
	if n := m.Get("bits"); n != nil {
		rule.Bits = int(n.Int("bits", 1, 255))
	}
	if n := m.Get("native"); n != nil {
		rule.Native = n.OneOf("native", natives)
	}
	return rule
}

func readTorch(m *yaml.Map) TorchType {
	t := TorchType{Lanes: 1}
	if n := m.Require("type"); n != nil {
		t.Type = identifierOf(n)
	}
	if n := m.Get("lanes"); n != nil {
		t.Lanes = int(n.Int("lanes", 1, 255))
	}
	m.Close()
	return t
}

func readTorchDevice(m *yaml.Map) (d TorchDevice) {
	if n := m.Require("key"); n != nil {
		d.Key = identifierOf(n)
	}
	if n := m.Get("build"); n != nil {
		d.Build = n.OneOf("build", []string{TorchROCm})
	}
	m.Close()
	return d
}

// TorchKey returns PyTorch's dispatch key for a device type by its name, or "".
func (r *Release) TorchKey(name string) string {
	for _, v := range Find[*Enum](r, "DLDeviceType").Values {
		if v.Name == name && v.Device != nil {
			return v.Device.Torch.Key
		}
	}
	return ""
}

// TorchKeyTypes are the device types of one key of PyTorch.
type TorchKeyTypes struct {
	Key  string
	Name string // its name in PyTorch's C shim: "cuda"
	Type string
	ROCm string // the device type in PyTorch for ROCm, if it differs
}

// TorchKeys returns the keys of PyTorch that have a device type, in the order of the spec.
func (r *Release) TorchKeys() (all []TorchKeyTypes) {
	for _, v := range Find[*Enum](r, "DLDeviceType").Values {
		switch {
		case v.Device == nil || v.Device.Torch.Key == "":
		case v.Device.Torch.Build == "":
			key := v.Device.Torch.Key
			all = append(all, TorchKeyTypes{Key: key, Name: strings.ToLower(key), Type: v.Name})
		default:
			for i := range all {
				if all[i].Key == v.Device.Torch.Key {
					all[i].ROCm = v.Name
				}
			}
		}
	}
	return all
}

// elements returns the section for a release, without the flag if the release lacks it.
func (l *linker) elements() Elements {
	e := l.spec.elements.Elements
	e.PaddedBy = l.types[e.PaddedBy]
	return e
}

// codes returns the rules of all type codes, including those of later releases, which an older
// release may receive. Numbers are never reused.
func (s *Spec) codes() []CodeRule {
	var out []CodeRule
	for _, d := range s.decls {
		for _, e := range d.codes {
			if e.now.Element != nil {
				out = append(out, CodeRule{e.now.Name, e.now.Value, *e.now.Element})
			}
		}
	}
	return out
}

// native returns the kind of number of a type code, by the newest name of the code.
func (s *Spec) native(code string) string {
	for _, d := range s.decls {
		for _, e := range d.codes {
			if e.now.Name == code && e.now.Element != nil {
				return e.now.Element.Native
			}
		}
	}
	return ""
}

// Rule returns the rule of a type code by its name, or an empty rule.
func (r *Release) Rule(name string) CodeRule {
	for _, e := range Of[*Enum](r) {
		for _, v := range e.Values {
			if v.Name == name && v.Element != nil {
				return CodeRule{v.Name, v.Value, *v.Element}
			}
		}
	}
	return CodeRule{}
}

// ValueOf returns the value of an enumerator by its name, or false if the release lacks it.
func (r *Release) ValueOf(enum, name string) (int64, bool) {
	for _, e := range Of[*Enum](r) {
		for _, v := range e.Values {
			if e.Name == enum && v.Name == name {
				return v.Value, true
			}
		}
	}
	return 0, false
}

// CodeOf returns the rule of a data type's code.
func (r *Release) CodeOf(d DType) CodeRule { return r.Rule(d.Code) }

// PartOf returns the data type of each part of a data type's elements, or false if they have none
// or the release has no name for it.
func (r *Release) PartOf(d DType) (DType, bool) {
	code := r.CodeOf(d)
	i := slices.IndexFunc(r.DTypes, func(part DType) bool {
		return part.Code == code.Part && part.Lanes == 1 && code.Parts()*part.Bits == d.Bits
	})
	if code.Part == "" || i < 0 {
		return DType{}, false
	}
	return r.DTypes[i], true
}

// refer replaces the names that enumerators refer to with those of the release. Entities that the
// release lacks keep their newest names.
func (l *linker) refer(decls []Decl) {
	for _, d := range decls {
		e, ok := d.(*Enum)
		for i := 0; ok && i < len(e.Values); i++ {
			v := &e.Values[i]
			if name, known := l.codes[part(*v)]; known {
				rule := *v.Element
				rule.Part, v.Element = name, &rule
			}
			if name, known := l.codes[owner(*v)]; known {
				rule := *v.Device
				rule.Of, v.Device = name, &rule
			}
		}
	}
}

func part(v EnumValue) string {
	if v.Element == nil {
		return ""
	}
	return v.Element.Part
}

func owner(v EnumValue) string {
	if v.Device == nil {
		return ""
	}
	return v.Device.Of
}

// references reports enumerators that refer to unknown ones, data types of a different width than
// their code, and an unknown flag.
func (s *Spec) references(codes map[string]string) {
	names := sortedKeys(codes)
	for _, d := range s.decls {
		for _, e := range d.codes {
			for _, name := range []string{part(e.now), owner(e.now)} {
				if _, ok := codes[name]; name != "" && !ok {
					e.node.Errorf("undefined-code", diag.DidYouMean(name, names), "%s: no enumerator %q", e.now.Name,
						name)
				}
			}
		}
	}
	s.widths()
	if flag := s.elements.PaddedBy; flag != "" && !s.hasFlag(flag) {
		s.elements.flag.Errorf("undefined-flag", "", "no flag %q", flag)
	}
}

func (s *Spec) hasFlag(name string) bool {
	return slices.ContainsFunc(s.decls, func(d declaration) bool {
		return d.name == name && d.node.Entries[0].Key.Value == "flag"
	})
}

// widths reports data types of a different width than their code.
func (s *Spec) widths() {
	for _, t := range s.dtypes {
		for _, code := range s.codes() {
			if code.Name == t.Code && code.Bits != 0 && code.Bits != t.Bits {
				t.node.Errorf("invalid-width", "", "dtype %s has %d bits, and %s has %d", t.Name, t.Bits, t.Code,
					code.Bits)
			}
		}
	}
}
