package compat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// TestEveryStepOfDLPack pins the changes of each release. Compilers measured the underlying facts,
// so a surprising change is a mistake in the spec.
func TestEveryStepOfDLPack(t *testing.T) {
	s := spec.Embedded()
	releases := s.Releases()
	var owned []string
	for i := 1; i < len(releases); i++ {
		old, new := releases[i-1].Version, releases[i].Version
		var b strings.Builder
		for _, c := range between(t, s, old, new) {
			fmt.Fprintf(&b, "%s %s %s", c.Kind, c.Rule, c.Name)
			if c.Old != "" || c.New != "" {
				fmt.Fprintf(&b, ": %s -> %s", c.Old, c.New)
			}
			b.WriteByte('\n')
		}
		path := "compat/" + old + "-" + new + ".txt"
		golden.Assert(t, path, []byte(b.String()))
		owned = append(owned, path)
	}
	golden.Orphans(t, "compat", owned)
}

func between(t *testing.T, s *spec.Spec, old, new string) []compat.Change {
	t.Helper()
	a, err := s.Release(old)
	require.NoError(t, err)
	b, err := s.Release(new)
	require.NoError(t, err)
	return compat.Compare(a, b)
}

func TestTheStepTo10BreaksSourceAlone(t *testing.T) {
	changes := between(t, spec.Embedded(), "0.8", "1.0")
	assert.True(t, compat.Breaks(changes))
	for _, c := range changes {
		assert.NotEqual(t, compat.Breaking, c.Kind, c.Rule)
	}
	assert.False(t, compat.Breaks(between(t, spec.Embedded(), "1.0", "1.1")))
	assert.Empty(t, between(t, spec.Embedded(), "1.3", "1.3"))
}

const (
	frame = "spec: 1\nreleases: [{version: \"1.0\"}, {version: \"1.1\"}]\ndeclarations:\n  - {macro: M, literal: " +
		"\"1\"}\n"
	pair = "  - {struct: S, fields: [{name: a, type: int32}, {name: b, type: int32}]}\n"
)

// rules contains, for each rule, declarations whose step from 1.0 to 1.1 it names.
var rules = map[string]string{
	"struct-removed": `  - {struct: S, until: "1.0", fields: [{name: a, type: int32}]}`,
	"struct-added":   `  - {struct: S, since: "1.1", fields: [{name: a, type: int32}]}`,
	"struct-renamed": `  - {struct: S, was: [{until: "1.0", name: T}], fields: [{name: a, type: int32}]}`,
	"struct-aliased": `  - {struct: S, was: [{until: "1.0", name: T}], fields: [{name: a, type: int32}]}` +
		"\n" + `  - {alias: T, since: "1.1", target: S}`,
	"layout-changed": `  - {struct: S, fields: [{name: a, type: int32, was: [{until: "1.0", type: int64}]}]}`,
	"field-removed":  `  - {struct: S, fields: [{name: a, type: int32}, {name: b, type: int32, until: "1.0"}]}`,
	"field-added":    `  - {struct: S, fields: [{name: a, type: int32}, {name: b, type: int32, since: "1.1"}]}`,
	"field-renamed":  `  - {struct: S, fields: [{name: a, type: int32, was: [{until: "1.0", name: b}]}]}`,
	"field-type":     `  - {struct: S, fields: [{name: a, type: int32, was: [{until: "1.0", type: uint32}]}]}`,
	"null-changed": `  - {struct: S, fields: [{name: a, type: {pointer: int}, nullable: never, was: [{until: "1.0", ` +
		`nullable: allowed}]}]}`,
	"owner-changed": `  - {struct: S, fields: [{name: a, type: {pointer: int}, owner: static, was: [{until: "1.0", owner: ` +
		`producer}]}]}`,
	"typedef-removed": `  - {struct: S, tag: true, typedef: false, was: [{until: "1.0", typedef: true}], fields: [{name: a, ` +
		`type: int}]}`,
	"typedef-added": `  - {struct: S, tag: true, was: [{until: "1.0", typedef: false}], fields: [{name: a, type: int}]}`,
	"enum-removed":  `  - {enum: E, wire: int8, until: "1.0", values: [{name: a, value: 1}]}`,
	"enum-added":    `  - {enum: E, wire: int8, since: "1.1", values: [{name: a, value: 1}]}`,
	"enum-width": `  - {enum: E, wire: int8, cxx_underlying: int64, was: [{until: "1.0", cxx_underlying: int32}], values: ` +
		`[{name: a, value: 1}]}`,
	"enum-underlying": `  - {enum: E, wire: int8, cxx_underlying: uint32, was: [{until: "1.0", cxx_underlying: int32}], values: ` +
		`[{name: a, value: 1}]}`,
	"enumerator-removed": `  - {enum: E, wire: int8, values: [{name: a, value: 1}, {name: b, value: 2, until: "1.0"}]}`,
	"enumerator-added":   `  - {enum: E, wire: int8, values: [{name: a, value: 1}, {name: b, value: 2, since: "1.1"}]}`,
	"enumerator-value":   `  - {enum: E, wire: int8, values: [{name: a, value: 1, was: [{until: "1.0", value: 2}]}]}`,
	"enumerator-renamed": `  - {enum: E, wire: int8, values: [{name: a, value: 1, was: [{until: "1.0", name: b}]}]}`,
	"flag-removed":       `  - {flag: F, bit: 1, until: "1.0"}`,
	"flag-added":         `  - {flag: F, bit: 1, since: "1.1"}`,
	"flag-bit":           `  - {flag: F, bit: 1, was: [{until: "1.0", bit: 2}]}`,
	"callback-removed":   `  - {callback: F, returns: int, until: "1.0"}`,
	"callback-added":     `  - {callback: F, returns: int, since: "1.1"}`,
	"callback-signature": `  - {callback: F, returns: int, was: [{until: "1.0", returns: void}]}`,
	"python-name": `python: {capsule: {fresh: a, used: b, was: [{until: "1.0", fresh: c}]}, versioned: {fresh: d, used: e}, ` +
		`exchange: {attribute: f, capsule: g}}`,
	"python-removed": `python: {capsule: {fresh: a, used: b}, versioned: {until: "1.0", fresh: d, used: e}, exchange: ` +
		`{attribute: f, capsule: g}}`,
	"python-added": `python: {capsule: {fresh: a, used: b}, versioned: {fresh: d, used: e}, exchange: {attribute: f, ` +
		`capsule: g, was: [{until: "1.0", capsule: ""}]}}`,
	"alias-removed": pair + `  - {alias: A, target: S, until: "1.0"}`,
	"alias-added":   pair + `  - {alias: A, target: S, since: "1.1"}`,
	"alias-target": pair + `  - {struct: T, fields: [{name: c, type: int}]}` + "\n" +
		`  - {alias: A, target: S, was: [{until: "1.0", target: T}]}`,
	"macro-removed":   `  - {macro: N, literal: "1", until: "1.0"}`,
	"macro-added":     `  - {macro: N, literal: "1", since: "1.1"}`,
	"macro-lowered":   `  - {macro: N, literal: "1", was: [{until: "1.0", literal: "2"}]}`,
	"macro-raised":    `  - {macro: N, literal: "2", was: [{until: "1.0", literal: "1"}]}`,
	"macro-respelled": `  - {macro: N, literal: "8", was: [{until: "1.0", literal: "010"}]}`,
	"linkage-removed": `  - {linkage: L, kind: extern_c, until: "1.0"}`,
	"linkage-added":   `  - {linkage: L, kind: extern_c, since: "1.1"}`,
}

func TestEveryRuleNamesItsChange(t *testing.T) {
	for _, rule := range compat.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			require.Contains(t, rules, rule.Name)
			s, diags := spec.Load("s.yaml", []byte(frame+rules[rule.Name]+"\n"))
			require.NotNil(t, s, "%v", diags.Sorted())
			changes := between(t, s, "1.0", "1.1")
			var named []string
			for _, c := range changes {
				named = append(named, c.Rule)
				assert.NotEmpty(t, c.Name)
				assert.NotEmpty(t, c.Text)
			}
			require.Contains(t, named, rule.Name)
			if rule.Kind != compat.Additive {
				assert.True(t, compat.Breaks(changes))
			}
		})
	}
}

func TestAFieldThatMovesIsReportedAtItsPlace(t *testing.T) {
	s, _ := spec.Load("s.yaml", []byte(frame+
		`  - {struct: S, fields: [{name: a, type: int32, until: "1.0"}, {name: b, type: int32}, {name: c, type: `+
		`int32}, {name: a, type: int32, since: "1.1"}]}`+"\n"))
	require.NotNil(t, s)
	changes := between(t, s, "1.0", "1.1")
	require.Len(t, changes, 1)
	assert.Equal(t, compat.Change{
		Kind: compat.Breaking, Rule: "layout-changed", Name: "S.a",
		Old: "4 bytes at 0 in lp64 C", New: "4 bytes at 8", Text: changes[0].Text,
	}, changes[0])
}
