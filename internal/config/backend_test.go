package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// vendors is a config with its own backend, and a kernel for its devices.
const vendors = `version: 1
dlpack: "1.3"
backends:
  acme:
    path: third_party/acme
    import: example.com/acme
    implementation: custom
    title: Acme
    doc: Acme's devices.
    install_hint: Acme's driver
    status_type: int
    devices:
      - {type: kDLAcme, value: 1000, memory: device, id: ordinal, torch: PrivateUse1}
      - {type: kDLExtDev, memory: managed, id: zero}
    streams: {table: rocm, none: 0}
    library: {linux: [libacme.so.1]}
    functions: {init: {symbol: acmeInit, params: void}}
    errors: {ACME_NONE: {value: -1, kind: no_device, text: none}}
kernels:
  fill: {args: {out: "int8[n] inout"}, devices: {kDLAcme: {}, kDLExtDev: {}}}
targets: {kernels: {}, torch: {}}
elsewhere: [c, cpp]
`

// torchDevices lists the devices of the first kernel, with PyTorch's keys from the config.
func torchDevices(cfg *Config) (all []string) {
	for _, d := range cfg.Contracts[0].Devices {
		all = append(all, fmt.Sprint(d.Name, " ", d.Value, " ", d.Torch))
	}
	return all
}

func TestABackEndIsATarget(t *testing.T) {
	cfg, found := decode(t, vendors, Choice{})
	require.Empty(t, found)
	require.Equal(t, []string{"kernels", "torch", "acme"}, names(cfg.Selected))
	target := cfg.Selected[2]
	assert.Equal(t, []string{"third_party/acme", "1.3", "example.com/acme"},
		[]string{target.Path, target.Release, target.Options["import"]})
	rule := &spec.DeviceRule{Streams: "rocm"}
	assert.Equal(t, []spec.EnumValue{{Name: "kDLAcme", Value: 1000, Doc: "Acme: memory of the device.",
		Device: rule}}, cfg.Devices)
	assert.Equal(t, []string{"kDLAcme 1000 PrivateUse1", "kDLExtDev 12 "}, torchDevices(cfg))
	cfg, found = decode(t, mutant.Once(t, vendors, "    path: third_party/acme\n", ""),
		Choice{Only: []string{"acme"}})
	require.Empty(t, found)
	assert.Equal(t, []string{"acme"}, names(cfg.Selected))
	assert.Equal(t, "backends/acme", cfg.Selected[0].Path)
	assert.Equal(t, []string{"kernels", "torch"}, names(cfg.Others))
}

// A backend's declarations about streams and memory reach every target: for kDLExtDev, for which
// DLPack specifies none, and for a new type.
func TestABackendsStreamsAreKnownToOtherTargets(t *testing.T) {
	swapped := strings.NewReplacer(
		"{type: kDLAcme, value: 1000, memory: device, id: ordinal",
		"{type: kDLAcme, value: 1000, memory: managed, id: zero",
		"{type: kDLExtDev, memory: managed, id: zero}", "{type: kDLExtDev, memory: device, id: ordinal}",
		"{table: rocm, none: 0}", "{none: 5, rejected: [0, 7]}").Replace(vendors)
	cfg, found := decode(t, swapped, Choice{})
	require.Empty(t, found)
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	before := slices.Clone(spec.Find[*spec.Enum](release, deviceEnum).Values)
	extended := cfg.Extend(release)
	rules := map[string]spec.DeviceRule{}
	for _, v := range spec.Find[*spec.Enum](extended, deviceEnum).Values {
		if v.Device != nil {
			rules[v.Name] = *v.Device
		}
	}
	assert.Equal(t, spec.DeviceRule{Streams: "acme", Torch: spec.TorchDevice{Key: "PrivateUse1"}}, rules["kDLExtDev"],
		"no handle any more")
	assert.Equal(t, spec.DeviceRule{HostReadable: true, IDZero: true}, rules["kDLAcme"])
	assert.Equal(t, "cuda", rules["kDLCUDA"].Streams)
	assert.Equal(t, spec.StreamTable{Name: "acme", Doc: "Streams of Acme.", Handle: true, Values: []spec.StreamValue{
		{Value: 5, Meaning: "default"}, {Value: 0, Meaning: "rejected"}, {Value: 7, Meaning: "rejected"}}},
		extended.Streams[len(extended.Streams)-1])
	assert.Equal(t, before, spec.Find[*spec.Enum](release, deviceEnum).Values, "the spec itself stays")
	cfg, found = decode(t, vendors, Choice{})
	require.Empty(t, found)
	assert.Equal(t, release.Streams, cfg.Extend(release).Streams, "a table of DLPack is not declared twice")
}

// A device under devices: has streams and a PyTorch key, even if a backend serves it.
func TestADeclaredDeviceHasStreamsAndAKeyOfTorch(t *testing.T) {
	const declared = "devices: {kDLAcme: {value: 1000, streams: cuda, torch: PrivateUse1}}\n"
	const kernels = "kernels: {fill: {args: {out: \"int8[n] inout\"}, devices: {kDLAcme: {}}}}\n"
	served := mutant.Once(t, vendors,
		"{type: kDLAcme, value: 1000, memory: device, id: ordinal, torch: PrivateUse1}",
		"{type: kDLAcme, memory: device, id: ordinal}")
	for _, text := range []string{
		"version: 1\ndlpack: \"1.3\"\ntargets: {kernels: {}, torch: {}}\nelsewhere: [c, cpp]\n" +
			declared + kernels, served + declared} {
		cfg, found := decode(t, text, Choice{})
		require.Empty(t, found)
		assert.Equal(t, "kDLAcme 1000 PrivateUse1", torchDevices(cfg)[0])
		release, err := spec.Embedded().Release("1.3")
		require.NoError(t, err)
		values := spec.Find[*spec.Enum](cfg.Extend(release), deviceEnum).Values
		assert.Equal(t, "cuda", values[len(values)-1].Device.Streams)
	}
	_, found := decode(t, "version: 1\ndlpack: \"1.3\"\ntargets: {c: {}}\n"+mutant.Once(t, declared, "PrivateUse1",
		"CUDA"), Choice{})
	assert.Contains(t, found, "torch must be PrivateUse1")
}

// Each mistake in a config's backend has one finding, at its place.
func TestErrorsInBackends(t *testing.T) {
	for _, c := range []struct{ old, fresh, want string }{
		{"  acme:\n", "  Acme:\n", `dlpackgen.yaml:4:3: error: name "Acme" must match`},
		{"  acme:\n", "  cuda:\n", "dlpackgen.yaml:4:3: error: cuda is the name of a target [invalid-name]"},
		{"  acme:\n", "  type:\n",
			`dlpackgen.yaml:4:3: error: name "type" cannot be the name of a Go package [invalid-name]`},
		{"path: third_party/acme", "path: ../acme",
			"dlpackgen.yaml:5:11: error: path \"../acme\" must not contain `..` [invalid-path]"},
		{"    title: Acme\n", "    titel: Acme\n",
			`dlpackgen.yaml:8:5: error: backend acme has no key "titel" [unknown-key]`},
		{"implementation: custom", "implementation: customs",
			`dlpackgen.yaml:7:21: error: implementation must be one of`},
		{"value: 1000", "value: 2",
			"dlpackgen.yaml:13:32: error: kDLAcme has the value 2, which is the value of kDLCUDA in DLPack 1.3 " +
				"[device-conflict]"},
		{"{type: kDLAcme,", "{type: kDLCUDA,",
			"dlpackgen.yaml:13:16: error: kDLCUDA is already an enumerator of DLDeviceType of DLPack 1.3 " +
				"[device-conflict]"},
		{"{type: kDLAcme,", "{type: acme,",
			`dlpackgen.yaml:13:16: error: "acme" is not a valid name for a device: it must match`},
		{"{type: kDLExtDev,", "{type: kDLExtDevice,",
			`dlpackgen.yaml:14:16: error: no selected release has a device "kDLExtDevice" [unknown-device]`},
		{"{type: kDLExtDev, memory: managed, id: zero}", "{type: kDLCUDAManaged, memory: managed, id: ordinal}",
			"dlpackgen.yaml:14:53: error: in DLPack 1.3, the id of kDLCUDAManaged is always 0 [invalid-backend]"},
		{"none: 0}", "none: 1}",
			"dlpackgen.yaml:15:34: error: in DLPack 1.3, None is number 0 of table rocm, not 1 [invalid-backend]"},
		{"table: rocm", "table: hip", `dlpackgen.yaml:15:22: error: DLPack 1.3 has no stream table "hip"; it has`},
		{"params: void", "params: 'void;'", `dlpackgen.yaml:17:50: error: params "void;" must match`},
		{"value: -1, kind: no_device", "value: -1, kind: none", "dlpackgen.yaml:18:43: error: kind must be one of"},
		{"version: 1\n", "version: 1\ndevices: {kDLAcme: {value: 1001}}\n",
			"dlpackgen.yaml:14:16: error: kDLAcme is already declared [device-conflict]"},
	} {
		text := mutant.Once(t, vendors[:strings.Index(vendors, "kernels:")], c.old, c.fresh)
		cfg, found := Decode("dlpackgen.yaml", []byte(text), embedded(), targets.Table(), Choice{})
		assert.Nil(t, cfg, c.fresh)
		all := diag.Text(found.Sorted(), false)
		assert.Contains(t, all, c.want)
		if !strings.Contains(c.fresh, "titel") { // which is missing as well
			assert.Equal(t, 1, found.Len(), "%s: %s", c.fresh, all)
		}
	}
}

// The same description can be a separate file or a part of a config.
func TestADescriptionIsTheSameInAConfig(t *testing.T) {
	cfg, found := decode(t, "version: 1\ntargets:\n", Choice{})
	assert.Nil(t, cfg)
	assert.NotEmpty(t, found, "without a backend, targets are needed")
	_, rest, _ := strings.Cut(vendors, "    implementation:")
	rest, _, _ = strings.Cut("    implementation:"+rest, "kernels:")
	list := &diag.List{}
	b := backend.Decode("x.yaml", []byte("backend: 1\nname: acme\n"+strings.ReplaceAll(rest, "\n    ", "\n")[4:]), list)
	require.NotNil(t, b, diag.Text(list.Sorted(), false))
	assert.Equal(t, "acme", b.Name)
}

// The built-in backends are in the vendors' format: as a part of a config, each description is the
// same backend.
func TestEmbeddedDescriptionsInAConfig(t *testing.T) {
	entries, err := source.Backends.ReadDir("backends")
	require.NoError(t, err)
	for _, e := range entries {
		src, err := source.Backends.ReadFile("backends/" + e.Name())
		require.NoError(t, err)
		name := strings.TrimSuffix(e.Name(), ".yaml")
		_, rest, found := strings.Cut(string(src), "\nname: "+name+"\n")
		require.True(t, found)
		cfg, text := decode(t, "version: 1\nbackends:\n  mine:\n    "+strings.ReplaceAll(rest, "\n", "\n    ")+"\n",
			Choice{})
		require.Empty(t, text)
		want := *backend.Embedded(name)
		want.Name = "mine"
		assert.Equal(t, []*backend.Backend{&want}, cfg.Backends, name)
	}
}

// The size of a backend's files depends on its own devices, not on the number of backends: they
// contain the devices that it declares or names, and those of the section.
func TestABackendKnowsTheDevicesThatItNames(t *testing.T) {
	text := "version: 1\ndevices: {kDLShared: {value: 900, doc: D.}}\nbackends:\n"
	for i := range 3 {
		text += fmt.Sprintf(
			"  b%[1]d: {implementation: custom, title: B, doc: D., install_hint: p, status_type: int, devices: "+
				"[{type: kDLB%[1]d, value: %[2]d, memory: device, id: ordinal}, {type: %[3]s, memory: host, id: zero}], "+
				"streams: {none: 1, rejected: []}, library: {linux: [l.so]}, functions: {f: {symbol: f, params: void}}, "+
				"errors: {E: {value: -1, kind: driver_error, text: t}}}\n", i, 1000+i,
			[]string{"kDLB1", "kDLShared", "kDLExtDev"}[i])
	}
	cfg, found := decode(t, text, Choice{})
	require.Empty(t, found)
	r, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	common := len(spec.Find[*spec.Enum](r, deviceEnum).Values)
	for i, want := range [][]string{{"kDLShared", "kDLB0", "kDLB1"}, {"kDLShared", "kDLB1"}, {"kDLShared", "kDLB2"}} {
		var own []string
		release := cfg.ReleaseOf(cfg.Selected[i], r)
		for _, v := range spec.Find[*spec.Enum](release, deviceEnum).Values[common:] {
			own = append(own, v.Name)
		}
		assert.Equal(t, want, own, cfg.Selected[i].Name)
		assert.Len(t, release.Streams, len(r.Streams)+1)
	}
}
