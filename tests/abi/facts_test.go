package abi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// notABI are the keys of a facts file about the measurement itself.
var notABI = []string{"header_bytes", "header_is_upstream_verbatim", "header_sha256", "measured_with", "source",
	"version"}

// measured is a decoded facts file without notABI, and with the facts of C copied to C++ where they
// are equal.
type measured struct {
	version string
	tree    object
}

func readFacts(t *testing.T) []measured {
	t.Helper()
	files, err := filepath.Glob("testdata/facts/dlpack-*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var out []measured
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var tree object
		require.NoError(t, json.Unmarshal(data, &tree), file)
		version := strings.TrimPrefix(tree["version"].(string), "v")
		for _, key := range notABI {
			delete(tree, key)
		}
		for _, l := range tree["layouts"].(object) {
			completeLayout(l.(object))
		}
		out = append(out, measured{version, tree})
	}
	return out
}

func completeLayout(l object) {
	for _, key := range []string{"note", "cxx_structs_same_as_c"} {
		delete(l, key)
	}
	if l["cxx_same_as_c"] == true {
		l["cxx"] = l["c"]
	}
	delete(l, "cxx_same_as_c")
}

// releaseOf returns the measured release. Upstream's main was measured a few commits before the
// spec's, which has one more device.
func releaseOf(t *testing.T, version string) *spec.Release {
	t.Helper()
	if version != "main-77aafa4" {
		return release(t, version)
	}
	r := release(t, "main")
	devices := spec.Find[*spec.Enum](r, "DLDeviceType")
	last := len(devices.Values) - 1
	require.Equal(t, "kDLAscend", devices.Values[last].Name)
	devices.Values = devices.Values[:last]
	return r
}

// differences returns every position where two trees differ, with both values.
func differences(at string, printed, facts any) []string {
	ours, ok := printed.(object)
	theirs, ok2 := facts.(object)
	if !ok || !ok2 {
		return leafDifferences(at, printed, facts)
	}
	keys := maps.Clone(ours)
	maps.Copy(keys, theirs)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differences(at+"/"+key, ours[key], theirs[key])...)
	}
	return out
}

func leafDifferences(at string, printed, facts any) []string {
	ours, ok := printed.([]any)
	theirs, ok2 := facts.([]any)
	if !ok || !ok2 || len(ours) != len(theirs) {
		if reflect.DeepEqual(printed, facts) {
			return nil
		}
		return []string{fmt.Sprintf("%s: the spec has %v, the measured value is %v", at, printed, facts)}
	}
	var out []string
	for i := range ours {
		out = append(out, differences(fmt.Sprintf("%s/%d", at, i), ours[i], theirs[i])...)
	}
	return out
}

func TestTheSpecSaysWhatWasMeasured(t *testing.T) {
	all := readFacts(t)
	assert.GreaterOrEqual(t, len(all), 8)
	for _, m := range all {
		t.Run(m.version, func(t *testing.T) {
			assert.Len(t, m.tree["layouts"], len(targets))
			assert.Empty(t, differences("", printed(t, releaseOf(t, m.version)), m.tree))
		})
	}
}

// Each change to the spec must be detected; otherwise, the comparison would prove nothing.
func TestEveryChangeOfTheSpecShows(t *testing.T) {
	all := readFacts(t)
	newest := all[slices.IndexFunc(all, func(m measured) bool { return m.version == "1.3" })]
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			r := release(t, "1.3")
			change(r)
			assert.NotEmpty(t, differences("", printed(t, r), newest.tree))
		})
	}
}

// The models differ in the possibilities of a target's compilers, so none can replace another.
func TestEveryModelIsNeeded(t *testing.T) {
	all := readFacts(t)
	r := releaseOf(t, all[0].version)
	for _, x := range targets {
		for _, m := range append(layout.Models(), layout.Win32) {
			facts := all[0].tree["layouts"].(object)[x.name].(object)["c"]
			same := len(differences("", normal(t, recordedLayout(r, m, layout.C)), facts)) == 0
			assert.Equal(t, x.model == m, same, "%s by %s", x.name, m.Name)
		}
	}
}

var changes = map[string]func(*spec.Release){
	"order of declarations": func(r *spec.Release) {
		i := slices.IndexFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == "DLTensor" })
		r.Decls[i], r.Decls[i-1] = r.Decls[i-1], r.Decls[i]
	},
	"missing declaration": func(r *spec.Release) { r.Decls = r.Decls[:len(r.Decls)-1] },
	"alias":               func(r *spec.Release) { r.Decls = append(r.Decls, &spec.Alias{Name: "A", Target: "int32"}) },
	"macro literal":       func(r *spec.Release) { spec.Of[*spec.Macro](r)[0].Literal = "01" },
	"macro value":         func(r *spec.Release) { spec.Of[*spec.Macro](r)[0].Value++ },
	"flag bit":            func(r *spec.Release) { spec.Of[*spec.Flag](r)[0].Bit++ },
	"linkage":             func(r *spec.Release) { spec.Of[*spec.Linkage](r)[0].Kind = spec.LinkageDLL },
	"enumerator name":     func(r *spec.Release) { devices(r).Values[3].Name += "x" },
	"enumerator value":    func(r *spec.Release) { devices(r).Values[3].Value++ },
	"enumerator order":    func(r *spec.Release) { slices.Reverse(devices(r).Values) },
	"literal suffix":      func(r *spec.Release) { devices(r).Unsigned = true },
	"underlying type":     func(r *spec.Release) { devices(r).CxxUnderlying = "" },
	"field name":          func(r *spec.Release) { tensor(r).Fields[0].Name += "x" },
	"field order":         func(r *spec.Release) { f := tensor(r).Fields; f[4], f[5] = f[5], f[4] },
	"field width":         func(r *spec.Release) { tensor(r).Fields[6].Type.Name = "uint32" },
	"field sign":          func(r *spec.Release) { tensor(r).Fields[2].Type.Name = "uint32" },
	"pointer to const":    func(r *spec.Release) { tensor(r).Fields[0].Type.Elem.Const = true },
	"tag":                 func(r *spec.Release) { tensor(r).Tag = true },
	"typedef":             func(r *spec.Release) { tensor(r).Typedef = false },
	"parameter name":      func(r *spec.Release) { spec.Of[*spec.Callback](r)[0].Func.Params[0].Name += "x" },
	"parameter type":      func(r *spec.Release) { spec.Of[*spec.Callback](r)[0].Func.Params[2].Type.Const = true },
	"return type":         func(r *spec.Release) { spec.Of[*spec.Callback](r)[0].Func.Returns.Name = "void" },
}

func devices(r *spec.Release) *spec.Enum  { return spec.Find[*spec.Enum](r, "DLDeviceType") }
func tensor(r *spec.Release) *spec.Struct { return spec.Find[*spec.Struct](r, "DLTensor") }
