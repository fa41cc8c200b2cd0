package config

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// tenReleases has a release 1.10, which would be 1.1 as a YAML number.
const tenReleases = `spec: 1
releases: [{version: "1.1"}, {version: "1.2"}, {version: "1.10"}, {version: main, unreleased: true}]
declarations:
  - enum: DLDeviceType
    wire: int32
    values: [{name: kDLCPU, value: 1, device: {}}]
python:
  capsule: {fresh: a, used: b}
  versioned: {fresh: c, used: d}
  exchange: {attribute: e, capsule: f}
`

// embedded is the spec, parsed once for the thousands of configs of these tests.
var embedded = sync.OnceValue(spec.Embedded)

// good is a minimal config.
const good = "version: 1\ntargets: {c: {}}\n"

func decode(t *testing.T, src string, choice Choice) (*Config, string) {
	t.Helper()
	cfg, list := Decode("dlpackgen.yaml", []byte(src), embedded(), targets.Table(), choice)
	assert.Equal(t, cfg == nil, list.Failed(), "a config is returned exactly without errors")
	return cfg, diag.Text(list.Sorted(), false)
}

func names(all []Target) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.Name)
	}
	return out
}

func TestDecodeReadsEveryKey(t *testing.T) {
	src := `version: 1
dlpack: "1.2"
out: third_party
targets:
  go: {path: ./gen//go, package: tensors, dlpack: v1.3}
  c:
devices:
  kDLAcme: {value: 1000, doc: "Acme  memory.", host_readable: true, opaque: true, id_zero: true, streams: cuda}
`
	cfg, found := decode(t, src, Choice{})
	require.Empty(t, found)
	assert.Equal(t, "third_party", cfg.Out)
	require.Equal(t, []string{"c", "go"}, names(cfg.Selected), "in the order of the table")
	c, g := cfg.Selected[0], cfg.Selected[1]
	assert.Equal(t, []string{"c", "1.2"}, []string{c.Path, c.Release})
	assert.Equal(t, []string{"gen/go", "1.3", "tensors"}, []string{g.Path, g.Release, g.Options["package"]})
	rule := &spec.DeviceRule{HostReadable: true, Opaque: true, IDZero: true, Streams: "cuda"}
	assert.Equal(t, []spec.EnumValue{{Name: "kDLAcme", Value: 1000, Doc: "Acme memory.", Device: rule}}, cfg.Devices)
}

func TestDecodeDefaults(t *testing.T) {
	cfg, found := decode(t, good, Choice{})
	require.Empty(t, found)
	assert.Equal(t, ".", cfg.Out)
	assert.Equal(t, spec.Embedded().Latest(), cfg.Selected[0].Release)
	assert.Empty(t, cfg.Others)
}

func TestReleaseIsReadAsItIsWritten(t *testing.T) {
	sp, list := spec.Load("spec.yaml", []byte(tenReleases))
	require.NotNil(t, sp, diag.Text(list.Sorted(), false))
	for written, want := range map[string]string{
		"1.10": "1.10", `"1.10"`: "1.10", "1.1": "1.1", "v1.2": "1.2", "main": "main", "latest": "1.10",
	} {
		src := "version: 1\ndlpack: " + written + "\ntargets: {c: {}}\n"
		cfg, list := Decode("f", []byte(src), sp, targets.Table(), Choice{})
		require.NotNil(t, cfg, diag.Text(list.Sorted(), false))
		assert.Equal(t, want, cfg.Selected[0].Release, written)
	}
}

func TestChoiceReplacesEveryRelease(t *testing.T) {
	src := "version: 1\ndlpack: \"0.8\"\ntargets: {c: {dlpack: \"0.5\"}, go: {dlpack: \"1.2\"}}\n"
	cfg, found := decode(t, src, Choice{Release: "v1.3"})
	require.Empty(t, found)
	for _, target := range cfg.Selected {
		assert.Equal(t, "1.3", target.Release, target.Name)
	}
}

func TestOnlyNarrowsTheSelection(t *testing.T) {
	src := "version: 1\ndlpack: \"0.8\"\ntargets: {c: {}, go: {}}\n"
	cfg, found := decode(t, src, Choice{Only: []string{"c"}})
	require.Empty(t, found, "a target that is not selected may be too new")
	assert.Equal(t, []string{"c"}, names(cfg.Selected))
	assert.Equal(t, []string{"go"}, names(cfg.Others))
}

func TestDefaultHasEveryTarget(t *testing.T) {
	cfg, list := Default(spec.Embedded(), targets.Table(), Choice{})
	require.Zero(t, list.Len())
	made := slices.DeleteFunc(targets.All(), func(row emit.Target) bool { return row.OnRequest })
	var want []string
	for _, row := range made {
		want = append(want, row.Name)
	}
	assert.Equal(t, want, names(cfg.Selected))
	for _, target := range cfg.Selected {
		assert.Equal(t, target.Target.Path, target.Path)
	}
	_, list = Default(spec.Embedded(), targets.Table(), Choice{Release: "0.8"})
	assert.Contains(t, diag.Text(list.Sorted(), false), "needs DLPack 1.2 or newer, not 0.8")
	_, list = Default(spec.Embedded(), targets.Table(), Choice{Release: "9.9"})
	assert.Equal(t, 1, list.Len(), "one finding, however many targets")
}

func TestLockNameFollowsTheConfig(t *testing.T) {
	for file, want := range map[string]string{
		"dlpackgen.yaml": "dlpackgen.lock", "conf/a.b.yaml": "a.b.lock", `conf\x.yml`: "x.lock", "plain": "plain.lock",
		".yaml": ".yaml.lock", "conf/.hidden": ".hidden.lock",
	} {
		assert.Equal(t, want, LockName(file))
	}
}

// TestFindings pins the first line and the position of each finding.
func TestFindings(t *testing.T) {
	c := "version: 1\ntargets:\n  c: "
	tests := map[string]struct{ src, want string }{
		"no version": {"targets: {c: {}}", `:1:1: error: the config has no "version" [missing-key]`},
		"newer version": {"version: 2\ntargets: {c: {}}",
			`:1:10: error: this dlpackgen reads configs of version 1, not "2" [config-version]`},
		"no targets":    {"version: 1", `:1:1: error: the config has no "targets" [missing-key]`},
		"empty targets": {"version: 1\ntargets: {}", `:2:10: error: the config lists no target [no-targets]`},
		"targets as a list": {"version: 1\ntargets: [c]",
			`:2:10: error: targets must be a mapping, not a list [type-mismatch]`},
		"unknown key":    {good + "divices: {}", `:3:1: error: the config has no key "divices" [unknown-key]`},
		"unknown target": {"version: 1\ntargets: {gp: {}}", `:2:11: error: targets has no key "gp" [unknown-key]`},
		"unknown option": {c + "{pth: x}", `:3:7: error: target c has no key "pth" [unknown-key]`},
		"bad option":     {"version: 1\ntargets: {go: {package: func}}", `:2:25: error: package: `},
		"option is a list": {"version: 1\ntargets: {go: {package: [a]}}",
			`:2:25: error: package must be a value, not a list [type-mismatch]`},
		"unknown release": {good + "dlpack: 9.9", `:3:9: error: there is no DLPack release "9.9" [unknown-release]`},
		"release is a list": {good + "dlpack: [1.3]",
			`:3:9: error: dlpack must be a value, not a list [type-mismatch]`},
		"target's release": {c + "{dlpack: 9}", `:3:15: error: there is no DLPack release "9" [unknown-release]`},
		"too old": {"version: 1\ndlpack: 1.1\ntargets: {go: {}}",
			`:2:9: error: target go needs DLPack 1.2 or newer, not 1.1`},
		"too old for itself": {"version: 1\ntargets: {go: {dlpack: 0.8}}",
			`:2:24: error: target go needs DLPack 1.2 or newer, not 0.8`},
		"absolute out": {good + "out: /usr", `:3:6: error: out "/usr" must be relative [invalid-path]`},
		"parent": {c + "{path: a/../../b}",
			"3:13: error: path \"a/../../b\" must not contain `..` [invalid-path]"},
		"drive":     {c + "{path: 'C:x'}", `:3:13: error: path "C:x" must be relative [invalid-path]`},
		"backslash": {c + `{path: 'a\b'}`, `:3:13: error: path "a\\b" contains a backslash [invalid-path]`},
		"control": {c + `{path: "a\nb"}`,
			`:3:13: error: path "a\nb" contains a control character [invalid-path]`},
		"empty path":        {c + `{path: ""}`, `:3:13: error: path "" is empty [invalid-path]`},
		"path is a mapping": {c + "{path: {}}", `:3:13: error: path must be a value, not a mapping [type-mismatch]`},
		"not YAML":          {"version: [1", `dlpackgen.yaml:1:10: error: this [ is not closed [yaml-syntax]`},
		"a list":            {"- 1", `:1:1: error: the config must be a mapping, not a list [type-mismatch]`},
		"duplicate": {"version: 1\nversion: 1",
			`:2:1: error: the key "version" is repeated; it is already in line 1 [duplicate-key]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, found := decode(t, tt.src, Choice{})
			assert.Contains(t, found, tt.want)
		})
	}
}

func TestFindingsSayWhatToDo(t *testing.T) {
	for src, hint := range map[string]string{
		good + "divices: {}":                           `did you mean "devices"?`,
		"version: 1\ntargets: {C_: {}}":                `did you mean "c"?`,
		good + "dlpack: 9.9":                           "there are 0.1, 0.2, 0.3, ",
		"version: 1\ndlpack: 0.8\ntargets: {go: {}}":   "--only c",
		"version: 1\ntargets: {}":                      "list one, such as `c: {}`",
		"version: 1\ntargets: {go: {packag: x}}":       `did you mean "package"?`,
		good + "devices: {kDLA: {value: 9, steam: x}}": `did you mean "streams"?`,
	} {
		_, found := decode(t, src, Choice{})
		assert.Contains(t, found, hint, src)
	}
}

func TestOneRunReportsEverything(t *testing.T) {
	src := "version: 3\nout: /x\ndlpack: 7\ntargets: {c: {path: ../y, z: 1}, d: {}}\ndevices: {Acme: {}}\nextra: 1\n"
	_, list := Decode("f", []byte(src), spec.Embedded(), targets.Table(), Choice{Only: []string{"nope"}})
	var codes []string
	for _, d := range list.Sorted() {
		codes = append(codes, d.Code)
	}
	want := []string{
		"unknown-target", "config-version", "invalid-path", "unknown-release", "invalid-path", "unknown-key",
		"unknown-key", "invalid-name", "missing-key", "unknown-key",
	}
	assert.Equal(t, want, codes)
}

func TestOnlyNamesWhatExists(t *testing.T) {
	for only, want := range map[string]string{
		"gp": "error: there is no target \"gp\" [unknown-target]\n    hint: did you mean \"go\"?",
		"go": "error: dlpackgen.yaml has no target \"go\" [unknown-target]\n    hint: add `go: {}` to its targets",
	} {
		_, found := decode(t, good, Choice{Only: []string{only}})
		assert.Contains(t, found, want)
	}
	_, found := decode(t, good, Choice{Only: []string{"something-else"}})
	assert.Contains(t, found, "the targets are "+strings.Join(targets.Names(), ", "))
	const described = "version: 1\ntargets: {c: {}, kernels: {}}\nkernels: {f: {args: {x: \"float32[n] inout\"}}}\n"
	_, found = decode(t, described, Choice{Only: []string{"gp"}})
	assert.Equal(t, 1, strings.Count(found, "error: "), "the dtypes of kernels are known: %s", found)
}

func TestAgeIsANumber(t *testing.T) {
	for releases, rejected := range map[string]bool{
		`{version: "1.0"}`: true, `{version: "1.1"}, {version: main, unreleased: true}`: true,
		`{version: "1.10"}`: false, `{version: "2.0"}`: false,
		`{version: "1.3"}, {version: main, unreleased: true}`: false,
	} {
		head, tail, _ := strings.Cut(tenReleases, "releases: [")
		_, tail, _ = strings.Cut(tail, "]\n")
		sp, list := spec.Load("s", []byte(head+"releases: ["+releases+"]\n"+tail))
		require.NotNil(t, sp, diag.Text(list.Sorted(), false))
		last := sp.Releases()[len(sp.Releases())-1].Version
		_, list = Decode("f", []byte("version: 1\ndlpack: "+last+"\ntargets: {go: {}}"), sp, targets.Table(), Choice{})
		assert.Equal(t, rejected, list.Failed(), releases)
	}
}
