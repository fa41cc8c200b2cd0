package backend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// ExternalDevice is the type whose meaning the producer and the consumer agree on.
const ExternalDevice = "kDLExtDev"

// memoryOf is the value of `memory` for each kind of memory of the spec.
var memoryOf = map[string]string{
	"": "device", spec.MemoryHost: "host", spec.MemoryPinned: "host", spec.MemoryManaged: "managed",
}

// Compare returns what a description repeats of a release and states differently: the memory and
// the ids of DLPack's device types, and the numbers of streams. m contains the description.
func (b *Backend) Compare(r *spec.Release, m *yaml.Map) []diag.Diagnostic {
	c := comparison{Backend: b, release: r}
	enum := spec.Find[*spec.Enum](r, "DLDeviceType")
	for i, d := range b.Devices {
		if rule := ruleOf(enum, d.Type); rule != nil && d.Type != ExternalDevice && d.Value == NoValue {
			c.device(d, rule, m.Get("devices").Items[i].Map(""), m)
		}
	}
	for _, t := range r.Streams {
		if b.Streams.Table == t.Name {
			c.numbers(t, m.Get("streams").Map(""))
		}
	}
	return c.findings
}

func ruleOf(enum *spec.Enum, name string) *spec.DeviceRule {
	if enum == nil {
		return nil
	}
	i := slices.IndexFunc(enum.Values, func(v spec.EnumValue) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return enum.Values[i].Device
}

type comparison struct {
	*Backend
	release  *spec.Release
	findings []diag.Diagnostic
}

func (c *comparison) complain(n *yaml.Node, hint, format string, args ...any) {
	c.findings = append(c.findings,
		n.Finding("invalid-backend", hint, "in DLPack %s, "+format, append([]any{c.release.Version}, args...)...))
}

// device compares a row of `devices`.
func (c *comparison) device(d Device, rule *spec.DeviceRule, row, m *yaml.Map) {
	if want := memoryOf[rule.Memory]; d.Memory != want {
		c.complain(row.Get("memory"), "write memory: "+want, "%s has %s memory, not %s", d.Type, want, d.Memory)
	}
	switch {
	case rule.IDZero && !d.IDIsZero():
		c.complain(row.Get("id"), "write id: zero", "the id of %s is always 0", d.Type)
	case !rule.IDZero && d.IDIsZero():
		c.complain(row.Get("id"), "write id: ordinal", "the id of %s is not always 0", d.Type)
	}
	if c.Streams.Given && rule.Streams != "" && c.Streams.Table != rule.Streams && d.Memory == Memories[0] {
		streams := m.Get("streams")
		at := streams.Map("").Get("table")
		if at == nil {
			at = streams
		}
		c.complain(at, "write table: "+rule.Streams, "the streams of %s have the numbers of table %s", d.Type,
			rule.Streams)
	}
}

// numbers compares the section `streams` with its table.
func (c *comparison) numbers(t spec.StreamTable, m *yaml.Map) {
	if want := t.Default(); c.Streams.None != want {
		c.complain(m.Get("none"), fmt.Sprintf("write none: %d", want), "None is number %d of table %s, not %d", want,
			t.Name, c.Streams.None)
	}
	aliased := map[int64]bool{}
	for i, alias := range c.Streams.Aliases {
		aliased[alias.Number] = true
		if meaning := meaningOf(t, alias.Number); meaning == "" || meaning == spec.MeaningRejected {
			c.complain(m.Get("aliases").Entries[i].Key, fmt.Sprintf("remove %d from aliases:", alias.Number),
				"number %d of table %s is %s", alias.Number, t.Name, cmp.Or(meaning, "a handle"))
		}
	}
	for _, v := range t.Values {
		if v.Value >= 0 && v.Meaning == spec.MeaningPerThread && !aliased[v.Value] {
			at := m.Get("aliases")
			if at == nil {
				at = m.Node()
			}
			c.complain(at, fmt.Sprintf("add %d with the driver's handle to aliases:", v.Value),
				"number %d of table %s is the per-thread default stream, which has no alias here", v.Value, t.Name)
		}
	}
}

func meaningOf(t spec.StreamTable, number int64) string {
	for _, v := range t.Values {
		if v.Value == number {
			return v.Meaning
		}
	}
	return ""
}
