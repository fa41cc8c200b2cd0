package config

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// deviceEnum is the enumeration to which vendors' devices are added.
const deviceEnum = "DLDeviceType"

// deviceName is the form of every name in DLDeviceType. Bindings drop the kDL.
var deviceName = regexp.MustCompile(`^kDL[A-Z][A-Za-z0-9_]{0,100}$`)

// Extend returns a copy of a release with the vendor's devices at the end of DLDeviceType, and with
// the stream tables and memory rules that backends declare.
func (c *Config) Extend(r *spec.Release) *spec.Release {
	i := slices.IndexFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == deviceEnum })
	if len(c.Devices) == 0 && len(c.Backends) == 0 || i < 0 {
		return r
	}
	enum, ok := r.Decls[i].(*spec.Enum)
	if !ok {
		return r
	}
	extended, longer := *r, *enum
	longer.Values = slices.Concat(enum.Values, c.Devices)
	extended.Decls = slices.Clone(r.Decls)
	extended.Decls[i] = &longer
	for _, b := range c.Backends {
		extended.Streams = slices.Concat(extended.Streams, ownStreams(b))
		ruleDevices(b, longer.Values)
	}
	return &extended
}

// ReleaseOf returns the release for a target. For a backend, it contains only the backend's devices
// and those of the section `devices`: with the devices of all backends, the files would be too
// large.
func (c *Config) ReleaseOf(t Target, r *spec.Release) *spec.Release {
	if t.Backend == nil {
		return c.Extend(r)
	}
	own := &Config{Devices: slices.Clone(c.section), Backends: []*backend.Backend{t.Backend}}
	for _, d := range t.Backend.Devices {
		if i := slices.IndexFunc(c.Devices, named(d.Type)); i >= 0 && !slices.ContainsFunc(own.Devices, named(d.Type)) {
			own.Devices = append(own.Devices, c.Devices[i])
		}
	}
	return own.Extend(r)
}

func named(name string) func(spec.EnumValue) bool {
	return func(v spec.EnumValue) bool { return v.Name == name }
}

// ownStreams returns the stream table that a backend declares, under the backend's name.
func ownStreams(b *backend.Backend) []spec.StreamTable {
	if !b.Streams.Given || b.Streams.Table != "" {
		return nil
	}
	t := spec.StreamTable{Name: b.Name, Doc: "Streams of " + b.Title + ".", Handle: true}
	t.Values = append(t.Values, spec.StreamValue{Value: b.Streams.None, Meaning: "default"})
	for _, number := range b.Streams.Rejected {
		t.Values = append(t.Values, spec.StreamValue{Value: number, Meaning: spec.MeaningRejected})
	}
	return []spec.StreamTable{t}
}

// streamsOf returns the name of a backend's stream table, or "".
func streamsOf(b *backend.Backend) string {
	if b.Streams.Given {
		return cmp.Or(b.Streams.Table, b.Name)
	}
	return b.Streams.Table
}

// ruleDevices assigns a backend's stream table to its device, unless the device has one. DLPack
// specifies nothing about kDLExtDev, so the backend decides everything about it, except for
// PyTorch's type.
func ruleDevices(b *backend.Backend, values []spec.EnumValue) {
	for _, d := range b.Devices {
		i := slices.IndexFunc(values, func(v spec.EnumValue) bool { return v.Name == d.Type })
		if i < 0 {
			continue
		}
		rule, known := deviceRule(b, d), values[i].Device
		if d.Type != backend.ExternalDevice && known != nil {
			rule, rule.Streams = *known, cmp.Or(known.Streams, rule.Streams)
		}
		if known != nil {
			rule.Torch = known.Torch
		}
		values[i].Device = &rule
	}
}

// deviceRule returns the memory rules that a backend declares for one of its types.
func deviceRule(b *backend.Backend, d backend.Device) spec.DeviceRule {
	rule := spec.DeviceRule{HostReadable: d.Memory != backend.Memories[0], IDZero: d.IDIsZero()}
	if d.Memory == backend.Memories[0] {
		rule.Streams = streamsOf(b)
	}
	return rule
}

// declaredDevice is a device that the config declares, with its position.
type declaredDevice struct {
	spec.EnumValue
	at deviceNodes
}

// devices reads a vendor's devices, including those of backends, and rejects devices that
// contradict each other or a selected release.
func (d *decoder) devices(cfg *Config, section *yaml.Node, backends []ownBackend) []spec.EnumValue {
	before := d.diags.Len()
	d.torch = map[string]string{}
	var all []declaredDevice
	if section != nil && !isEmpty(section) && section.Is(yaml.Mapping, "devices") {
		for _, e := range section.Entries {
			device, at := d.device(e)
			all = append(all, declaredDevice{device, at})
		}
	}
	declared := len(all)
	for _, b := range backends {
		all = append(all, b.devices()...)
	}
	out := d.checkDevices(cfg, all)
	cfg.section = slices.Clip(out[:declared])
	if d.diags.Len() == before {
		d.clashes(cfg, all, out)
	}
	return out
}

// checkDevices returns the devices. It compares each with the preceding ones and with the releases.
func (d *decoder) checkDevices(cfg *Config, all []declaredDevice) (out []spec.EnumValue) {
	releases := d.selectedReleases(cfg)
	for _, declared := range all {
		device, at := declared.EnumValue, declared.at
		if slices.ContainsFunc(out, func(v spec.EnumValue) bool { return v.Name == device.Name }) {
			at.name.Errorf("device-conflict", "declare it once", "%s is already declared", device.Name)
			at.valid = false
		}
		if i := slices.IndexFunc(out,
			func(v spec.EnumValue) bool { return v.Value == device.Value }); i >= 0 && at.valid {
			at.value.Errorf("device-conflict", "use a different number for each device",
				"%s has the value %d, which is the value of %s", device.Name, device.Value, out[i].Name)
		}
		for _, r := range releases {
			if d.conflict(r, device, at) {
				break
			}
		}
		out = append(out, device)
	}
	return out
}

// clashes reports devices whose names differ in C but are equal in a selected target.
func (d *decoder) clashes(cfg *Config, all []declaredDevice, devices []spec.EnumValue) {
	extended := &Config{Devices: devices}
	for _, t := range cfg.Selected {
		r, err := d.spec.Release(t.Release)
		if err != nil || t.Clashes == nil || d.older(t.Release, t.Oldest) {
			continue
		}
		for _, clash := range t.Clashes(extended.Extend(r)) {
			i := slices.IndexFunc(all, func(v declaredDevice) bool { return v.Name == clash.Names[1] })
			if i < 0 {
				i = slices.IndexFunc(all, func(v declaredDevice) bool { return v.Name == clash.Names[0] })
			}
			if i >= 0 {
				all[i].at.name.Errorf("device-conflict", "rename one of them", "target %s: %s", t.Name, clash.Text)
			}
		}
	}
}

// deviceNodes are the positions of findings about a device.
type deviceNodes struct {
	name, value *yaml.Node
	streams     *yaml.Node // nil if a backend declares it, which is checked with the backend
	valid       bool       // name and value are in order
}

func (d *decoder) device(e yaml.Entry) (spec.EnumValue, deviceNodes) {
	before := d.diags.Len()
	v := spec.EnumValue{Name: e.Key.Value}
	if !deviceName.MatchString(v.Name) {
		e.Key.Errorf("invalid-name", "as in kDLAcme", "%q is not a valid name for a device: it must match %s", v.Name,
			deviceName)
	}
	m := e.Value.Map("device " + v.Name)
	at := deviceNodes{name: e.Key, value: m.Require("value"), streams: m.Get("streams")}
	if at.value != nil {
		v.Value = at.value.Int("value", 0, math.MaxInt32)
	}
	v.Doc = m.Doc()
	v.Device = spec.ReadDeviceRule(m)
	if key := m.Get("torch"); key != nil {
		d.torch[v.Name] = key.OneOf("torch", backend.TorchKeys)
	}
	m.Close()
	at.valid = d.diags.Len() == before
	return v, at
}

// conflict reports the first conflict of a device with a release.
func (d *decoder) conflict(r *spec.Release, v spec.EnumValue, at deviceNodes) bool {
	const hint = "DLPack never reuses a number or a name"
	if !at.valid {
		return true
	}
	if what := declared(r, v.Name); what != "" {
		at.name.Errorf("device-conflict", hint, "%s is already %s of DLPack %s", v.Name, what, r.Version)
		return true
	}
	enum := spec.Find[*spec.Enum](r, deviceEnum)
	if enum == nil {
		at.name.Errorf("device-conflict", "set a newer release, as in dlpack: "+d.spec.Latest(),
			"DLPack %s has no %s to add %s to", r.Version, deviceEnum, v.Name)
		return true
	}
	for _, own := range enum.Values {
		if own.Value == v.Value {
			at.value.Errorf("device-conflict", hint, "%s has the value %d, which is the value of %s in DLPack %s",
				v.Name,
				v.Value, own.Name, r.Version)
			return true
		}
	}
	return d.noStreams(r, v, at)
}

// noStreams reports a stream table that the release lacks.
func (d *decoder) noStreams(r *spec.Release, v spec.EnumValue, at deviceNodes) bool {
	var known []string
	for _, s := range r.Streams {
		known = append(known, s.Name)
	}
	if v.Device.Streams == "" || at.streams == nil || slices.Contains(known, v.Device.Streams) {
		return false
	}
	at.streams.Errorf("unknown-streams", cmp.Or(diag.DidYouMean(v.Device.Streams, known), "use one of these tables"),
		"DLPack %s has no stream table %q; it has %v", r.Version, v.Device.Streams, known)
	return true
}

// declared returns the kind of declaration that a release has under a name, or "" if the name is
// free. C has one name space for all of them.
func declared(r *spec.Release, name string) string {
	for _, d := range r.Decls {
		if d.DeclName() == name {
			return "a declaration"
		}
		if e, ok := d.(*spec.Enum); ok && slices.ContainsFunc(e.Values,
			func(v spec.EnumValue) bool { return v.Name == name }) {
			return fmt.Sprintf("an enumerator of %s", e.Name)
		}
	}
	return ""
}

// selectedReleases resolves each release of the selected targets once. If a choice selects none,
// which is an error, it resolves those of all targets, so that nothing else seems to be wrong.
func (d *decoder) selectedReleases(cfg *Config) []*spec.Release {
	targets := cfg.Selected
	if len(targets) == 0 {
		targets = cfg.Others
	}
	var out []*spec.Release
	for _, t := range targets {
		known := slices.ContainsFunc(out, func(r *spec.Release) bool { return r.Version == t.Release })
		if r, err := d.spec.Release(t.Release); err == nil && !known {
			out = append(out, r)
		}
	}
	if r, err := d.spec.Release(cfg.Release); len(out) == 0 && d.missed && err == nil {
		out = append(out, r)
	}
	return out
}

// deviceValues returns the device types of all selected releases and of the config.
func (d *decoder) deviceValues(cfg *Config) map[string]int64 {
	known := map[string]int64{}
	for _, v := range d.typesOfDevice(cfg) {
		known[v.Name] = v.Value
	}
	return known
}

// deviceOwners returns the device types whose runtime allocates the memory of other types.
func (d *decoder) deviceOwners(cfg *Config) map[string]string {
	owners := map[string]string{}
	for _, v := range d.typesOfDevice(cfg) {
		if v.Device != nil && v.Device.Of != "" {
			owners[v.Name] = v.Device.Of
		}
	}
	return owners
}

// typesOfDevice lists the device types of all selected releases and of the config, possibly with
// duplicates.
func (d *decoder) typesOfDevice(cfg *Config) (all []spec.EnumValue) {
	for _, r := range d.selectedReleases(cfg) {
		if enum := spec.Find[*spec.Enum](cfg.Extend(r), deviceEnum); enum != nil {
			all = append(all, enum.Values...)
		}
	}
	return all
}
