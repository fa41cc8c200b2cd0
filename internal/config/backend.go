package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// ownBackend is a backend that the config describes, with its position.
type ownBackend struct {
	*backend.Backend
	node *yaml.Node
}

// backends reads the section `backends`. Each backend is a target, with a target's settings in
// addition to its description.
func (d *decoder) backends(cfg *Config, section *yaml.Node, release string, requested *yaml.Node) (out []ownBackend) {
	if section == nil || isEmpty(section) || !section.Is(yaml.Mapping, "backends") {
		return nil
	}
	for _, e := range section.Entries {
		m := e.Value.Map("backend " + e.Key.Value)
		row := d.table.Vendor(&backend.Backend{Name: e.Key.Value})
		t := Target{Target: row, Path: row.Path, Release: release, Options: map[string]string{}, at: e.Key}
		at := d.settings(m, &t, requested)
		before := d.diags.Len()
		b := backend.Read(m, e.Key, d.diags)
		if slices.Contains(d.table.Names(), b.Name) {
			e.Key.Errorf("invalid-name", "choose another name", "%s is the name of a target", b.Name)
		}
		if d.diags.Len() > before {
			continue
		}
		t.Target, t.Backend = d.table.Vendor(b), b
		d.place(cfg, t, orElse(at, e.Key))
		cfg.Backends = append(cfg.Backends, b)
		out = append(out, ownBackend{b, e.Value})
	}
	return out
}

// row returns the position of a device of the backend.
func (b ownBackend) row(i int) *yaml.Map {
	return b.node.Map("").Get("devices").Items[i].Map("")
}

// devices returns the device types that the backend declares.
func (b ownBackend) devices() (out []declaredDevice) {
	for i, device := range b.Devices {
		if device.Value == backend.NoValue {
			continue
		}
		row := b.row(i)
		v := spec.EnumValue{Name: device.Type, Value: device.Value, Doc: b.Title + ": " + memoryDocs[device.Memory]}
		v.Device = &spec.DeviceRule{HostReadable: device.Memory != backend.Memories[0], IDZero: device.IDIsZero(),
			Streams: b.Streams.Table}
		at := deviceNodes{name: row.Get("type"), value: row.Get("value"), valid: true}
		if !deviceName.MatchString(v.Name) {
			at.name.Errorf("invalid-name", "as in kDLAcme", "%q is not a valid name for a device: it must match %s",
				v.Name,
				deviceName)
			at.valid = false
		}
		out = append(out, declaredDevice{v, at})
	}
	return out
}

var memoryDocs = map[string]string{
	"device": "memory of the device.", "host": "memory of the host that the device reaches.",
	"managed": "memory of the host and the device.",
}

// checkBackends reports device types and stream tables that the selected releases do not have, and
// what a backend states differently.
func (d *decoder) checkBackends(cfg *Config, all []ownBackend) {
	known := d.deviceValues(cfg)
	releases := d.selectedReleases(cfg)
	for _, b := range all {
		for i, device := range b.Devices {
			d.torch[device.Type] = cmp.Or(device.Torch, d.torch[device.Type])
			if _, found := known[device.Type]; !found && device.Value == backend.NoValue && len(releases) > 0 {
				b.row(i).Get("type").Errorf("unknown-device", unknownDeviceHint(device.Type, known),
					"no selected release has a device %q", device.Type)
			}
		}
		for _, r := range releases {
			if b.node.Kind != yaml.Mapping || d.noTable(r, b) {
				break
			}
			if found := b.Compare(r, b.node.Map("")); len(found) > 0 {
				for _, finding := range found {
					d.diags.Add(finding)
				}
				break
			}
		}
	}
}

func unknownDeviceHint(name string, known map[string]int64) string {
	if hint := diag.DidYouMean(name, slices.Sorted(maps.Keys(known))); hint != "" {
		return hint
	}
	return "add a value, or use kDLExtDev"
}

// noTable reports a stream table that the release lacks.
func (d *decoder) noTable(r *spec.Release, b ownBackend) bool {
	if b.Streams.Table == "" {
		return false
	}
	at := b.node.Map("").Get("streams").Map("").Get("table")
	return d.noStreams(r, spec.EnumValue{Device: &spec.DeviceRule{Streams: b.Streams.Table}}, deviceNodes{streams: at})
}
