package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

func TestExtendAddsTheDevicesAtTheEnd(t *testing.T) {
	cfg, found := decode(t, good+"devices: {kDLAcme: {value: 1000}, kDLBeta: {value: 1001}}", Choice{})
	require.Empty(t, found)
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	before := len(spec.Find[*spec.Enum](release, deviceEnum).Values)
	longer := spec.Find[*spec.Enum](cfg.Extend(release), deviceEnum).Values
	require.Len(t, longer, before+2)
	assert.Equal(t, "kDLAcme", longer[before].Name)
	assert.NotNil(t, longer[before].Device, "bindings look up the rule of every device type")
	assert.Len(t, spec.Find[*spec.Enum](release, deviceEnum).Values, before, "the release itself is unchanged")
	assert.Len(t, cfg.Extend(release).Decls, len(release.Decls))
}

func TestExtendWithoutDevicesIsTheReleaseItself(t *testing.T) {
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	assert.Same(t, release, (&Config{}).Extend(release))
}

func TestDeviceFindings(t *testing.T) {
	tests := map[string]struct{ src, want string }{
		"a taken value": {"{kDLAcme: {value: 2}}",
			`3:28: error: kDLAcme has the value 2, which is the value of kDLCUDA in DLPack LATEST [device-conflict]`},
		"a taken name": {"{kDLCUDA: {value: 99}}",
			`3:11: error: kDLCUDA is already an enumerator of DLDeviceType of DLPack LATEST [device-conflict]`},
		"another enum": {"{kDLFloat: {value: 99}}",
			`3:11: error: kDLFloat is already an enumerator of DLDataTypeCode of DLPack LATEST`},
		"each other": {"{kDLA: {value: 99}, kDLB: {value: 99}}",
			`kDLB has the value 99, which is the value of kDLA [device-conflict]`},
		"no value":          {"{kDLAcme: {}}", `3:20: error: device kDLAcme has no "value" [missing-key]`},
		"a negative value":  {"{kDLAcme: {value: -1}}", `value must be from 0 to 2147483647, not -1 [out-of-range]`},
		"a text as value":   {`{kDLAcme: {value: "9"}}`, `value must be a decimal integer, not "9" [type-mismatch]`},
		"a name of its own": {"{acme: {value: 99}}", `3:11: error: "acme" is not a valid name for a device`},
		"a comment's end":   {`{kDLAcme: {value: 99, doc: "*/ x"}}`, `3:37: error: doc must not contain comment marks`},
		"unknown streams": {"{kDLAcme: {value: 99, streams: cudda}}",
			`3:41: error: DLPack LATEST has no stream table "cudda"; it has [cuda rocm] [unknown-streams]`},
		"no mapping": {"{kDLAcme: 99}", `device kDLAcme must be a mapping, not a value [type-mismatch]`},
		"a list":     {"[kDLAcme]", `3:10: error: devices must be a mapping, not a list [type-mismatch]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, found := decode(t, good+"devices: "+tt.src, Choice{})
			assert.Contains(t, found, strings.ReplaceAll(tt.want, "LATEST", spec.Embedded().Latest()))
		})
	}
}

func TestDevicesAreCheckedAgainstEachReleaseInUse(t *testing.T) {
	devices := "devices: {kDLAcme: {value: 19}}\n"
	_, found := decode(t, good+devices, Choice{Release: "1.3"})
	assert.Empty(t, found, "19 is free in 1.3")
	_, found = decode(t, good+devices, Choice{Release: "main"})
	assert.Contains(t, found, "which is the value of kDLTPU in DLPack main")
	_, found = decode(t, "version: 1\ntargets: {c: {dlpack: main}, go: {}}\n"+devices, Choice{})
	assert.Contains(t, found, "which is the value of kDLTPU in DLPack main")
}

// Two C names may be the same name in a target: the finding is at the device, not in the rendering.
func TestDevicesThatATargetCannotTellApart(t *testing.T) {
	const toGo = "version: 1\ntargets: {c: {}, go: {}}\ndevices: "
	for devices, want := range map[string]string{
		"{kDLAcme_x: {value: 500}, kDLAcmeX: {value: 501}}": `:3:36: error: target go: kDLAcme_x and kDLAcmeX would both be named DeviceAcmeX in Go ` +
			`[device-conflict]`,
		"{kDLCUDA_: {value: 500}}": `:3:11: error: target go: kDLCUDA and kDLCUDA_ would both be named DeviceCUDA in Go [device-conflict]`,
		"{kDLType: {value: 500}}": `:3:11: error: target go: DLDeviceType and kDLType would both be named DeviceType in Go ` +
			`[device-conflict]`,
	} {
		_, found := decode(t, toGo+devices, Choice{})
		assert.Contains(t, found, want)
		assert.Contains(t, found, "hint: rename one of them")
		_, found = decode(t, toGo+devices, Choice{Only: []string{"c"}})
		assert.Empty(t, found, "C distinguishes them")
	}
	_, found := decode(t, toGo+"{kDLAcme: {value: 500}, kDLAcmeX: {value: 501}}", Choice{})
	assert.Empty(t, found)
	_, found = decode(t, toGo+"{kDLCUDA: {value: 500}}", Choice{})
	assert.Equal(t, 1, strings.Count(found, "[device-conflict]"), "a name that is taken in C needs no second finding")
}

// A device may have the name of a later declaration of the spec.
func TestAClashStandsAtTheDeviceInAnyOrder(t *testing.T) {
	src := mutant.Once(t, tenReleases, "python:\n",
		"  - enum: DLDeviceColor\n    wire: int32\n    values: [{name: kRed, value: 1}]\npython:\n")
	sp, list := spec.Load("s", []byte(src))
	require.NotNil(t, sp, diag.Text(list.Sorted(), false))
	_, list = Decode("f", []byte("version: 1\ntargets: {go: {}}\ndevices: {kDLColor: {value: 5}}"), sp,
		targets.Table(), Choice{})
	assert.Contains(t, diag.Text(list.Sorted(), false),
		"f:3:11: error: target go: kDLColor and DLDeviceColor would both")
}

func TestDevicesNeedTheirEnum(t *testing.T) {
	bare := `spec: 1
releases: [{version: "1.3"}]
declarations: [{macro: M, literal: "1"}]
python:
  capsule: {fresh: a, used: b}
  versioned: {fresh: c, used: d}
  exchange: {attribute: e, capsule: f}
`
	sp, list := spec.Load("s", []byte(bare))
	require.NotNil(t, sp, diag.Text(list.Sorted(), false))
	_, list = Decode("f", []byte(good+"devices: {kDLAcme: {value: 1}}"), sp, targets.Table(), Choice{})
	assert.Contains(t, diag.Text(list.Sorted(), false), "DLPack 1.3 has no DLDeviceType to add kDLAcme to")
}
