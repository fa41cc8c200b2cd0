package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// release is resolved once, because fuzzing parses many texts.
var release = sync.OnceValue(func() *spec.Release {
	r, err := spec.Embedded().Release("1.3")
	if err != nil {
		panic(err)
	}
	return r
})

// read resolves the kernels of a file that contains only them.
func read(t testing.TB, src string) ([]*contract.Reading, string) {
	t.Helper()
	all, found := readings(src)
	return all, diag.Text(found, false)
}

func readings(src string) ([]*contract.Reading, []diag.Diagnostic) {
	scope := contract.Scope{DTypes: release().DTypes, MaxNDim: 64, Devices: map[string]int64{"kDLCPU": 1, "kDLCUDA": 2}}
	diags := &diag.List{}
	var all []*contract.Reading
	if root := yaml.Parse("k.yaml", []byte(src), diags); root != nil {
		for _, e := range root.Entries {
			all = append(all, contract.Read(e, scope, diags))
		}
		contract.Compare(all)
	}
	return all, diags.Sorted()
}

func TestTheExamplesOfTheDesign(t *testing.T) {
	src, err := os.ReadFile("testdata/design.yaml")
	require.NoError(t, err)
	all, found := read(t, string(src))
	require.Empty(t, found)
	var out strings.Builder
	for _, r := range all {
		require.True(t, r.Valid)
		show(&out, &r.Kernel)
	}
	golden.Assert(t, "kernel/design.txt", []byte(out.String()))
	golden.Orphans(t, "kernel", []string{"kernel/design.txt", "kernel/mistakes.txt"})
}

func TestTheTypeOfAScalarInC(t *testing.T) {
	all, found := read(t, "f: {args: {i: int, f: float, b: bool, h: float16, u: uint8, x: \"T[n]\", v: T}, "+
		"types: {T: [int8, float32]}, symbol: \"f_{T}\"}")
	require.Empty(t, found)
	types := map[string]string{}
	for _, p := range all[0].Kernel.Args {
		types[p.Name] = p.CType() + " | " + p.ZeroScalar("s")
	}
	assert.Equal(t, map[string]string{"i": "int64_t | int64_t s = 0", "f": "double | double s = 0",
		"b": "bool | bool s = false", "h": "float | float s = 0", "u": "uint8_t | uint8_t s = 0",
		"x": " | union dlpackgen_scalar s = {0}", "v": " | union dlpackgen_scalar s = {0}"}, types)
}

// show prints a kernel for the golden file.
func show(out *strings.Builder, k *contract.Kernel) {
	fmt.Fprintf(out, "%s::%s: %s\n", k.Namespace, k.Name, k.Doc)
	for _, v := range k.Vars {
		fmt.Fprintf(out, "  type %s: %s, as in %s\n", v.Name, dtypes(v.Types), k.Args[v.Arg].Name)
	}
	for _, p := range k.Args {
		fmt.Fprintf(out, "  takes %s\n", param(k, p))
	}
	for _, p := range k.Results {
		fmt.Fprintf(out, "  gives %s\n", param(k, p))
	}
	for _, d := range append(k.Dims, k.Ellipses...) {
		fmt.Fprintf(out, "  symbol %q: %s\n", d.Name, dim(k, d))
	}
	for _, c := range k.Where {
		fmt.Fprintf(out, "  where %s\n", c)
	}
	for _, d := range k.Devices {
		for _, f := range d.Functions {
			fmt.Fprintf(out, "  on %s %v graphs=%v: %s\n", d.Name, f.Types, d.Graphs, f.Symbol)
		}
	}
	fmt.Fprintf(out, "  error %q %+v serial=%v nobatch=%v\n", k.Error, k.Errors, k.Serial, k.NoBatch)
	fmt.Fprintf(out, "  backward %s\n  test %s\n", plus(k.Backward), plus(k.Test))
}

func plus[T any](p *T) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("%+v", *p)
}

func dtypes(all []spec.DType) string {
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	return strings.Join(names, "|")
}

var forms = []string{"any", "fixed", "symbol", "solved", "computed", "ellipsis"}

func param(k *contract.Kernel, p contract.Param) string {
	var extents []string
	for _, e := range p.Extents {
		text := forms[e.Form]
		if e.Size != nil {
			text += " " + e.Size.String()
		}
		extents = append(extents, text)
	}
	return fmt.Sprintf("%s = %s: kind %d of %s var %d [%s] layout %d access %d align %d cpu=%v copied=%v "+
		"zeroed=%v saved=%v "+
		"optional=%v aliases %v count %d least %d", p.Name, p.Line, p.Kind, dtypes(p.Types), p.Var,
		strings.Join(extents, ", "),
		p.Layout, p.Access, p.Align, p.CPU, p.Copied, p.Zeroed, p.Saved, p.Optional, p.Aliases, p.Count, p.Least)
}

func dim(k *contract.Kernel, d contract.Dim) string {
	return fmt.Sprintf("of %s flagged=%v always=%v solved by %s", k.Args[d.Arg].Name, d.Flagged, d.Always,
		plus(d.Solve))
}

func TestSymbolsAreBoundInOrder(t *testing.T) {
	all, found := read(t, `f:
  args:
    w: float32[k, n]?
    x: float32[..., n, m + 1]
    p: float32[2 * m]
    n: int
  returns: {y: "float32[..., m * n]"}
`)
	require.Empty(t, found)
	k := all[0]
	names := func(dims []contract.Dim) (out []string) {
		for _, d := range dims {
			out = append(out, fmt.Sprint(d.Name, " ", k.Args[d.Arg].Name, " ", d.Flagged, " ", d.Always))
		}
		return out
	}
	assert.Equal(t, []string{"n n false true", "k w true false", "m x false true"}, names(k.Dims),
		"an int argument precedes every tensor")
	assert.Equal(t, contract.Solved, k.Args[1].Extents[2].Form)
	assert.Equal(t, contract.Computed, k.Args[2].Extents[0].Form, "bound already")
}

// A bare symbol binds its value anywhere, even after an expression with it; an argument that may be
// None binds only symbols that no other argument binds.
func TestArgumentsThatBindSymbols(t *testing.T) {
	for src, want := range map[string]string{
		"{a: 'int8[n + 1]', b: 'int8[n]'}":               "b",
		"{a: 'int8[2 * n]?', b: 'int8[n - 1]'}":          "b",
		"{a: 'int8[n]?', b: 'int8[n]'}":                  "a",
		"{a: 'int8[n]', n: int}":                         "n",
		"{a: 'int8[3 + n]', b: 'int8[n * 2]'}":           "a",
		"{a: 'int8[n]? = None', b: 'int8[n]? = None'}":   "a",
		"{a: 'int8[n * 2]? = None', b: 'int8[_]= None'}": "",
	} {
		all, found := read(t, "f: {args: "+src+"}")
		if want == "" {
			assert.NotEmpty(t, found)
			continue
		}
		require.Empty(t, found, src)
		assert.Equal(t, want, all[0].Args[all[0].Dims[0].Arg].Name, src)
	}
}

func TestFunctionsAreEveryChoiceOfDTypes(t *testing.T) {
	all, found := read(t, `f:
  types: {T: {float32: s, float64: d}, I: [int32, int64]}
  args: {x: "T[n]", i: "I[n]", a: "T = 1"}
  symbol: f_{I}_{T}
  devices: {kDLCPU: , kDLCUDA: {symbol: "g_{T}", graphs: true}}
`)
	require.Empty(t, found)
	assert.Equal(t, []contract.Function{
		{"f_int32_s", []int{0, 0}}, {"f_int32_d", []int{1, 0}}, {"f_int64_s", []int{0, 1}}, {"f_int64_d", []int{1, 1}},
	}, all[0].Devices[0].Functions)
	assert.Equal(t, contract.Device{Name: "kDLCUDA", Value: 2, Graphs: true, Functions: []contract.Function{
		{"g_s", []int{0, contract.None}}, {"g_d", []int{1, contract.None}},
	}}, all[0].Devices[1])
}

// Any text results in a kernel or a finding, and each finding has a position and a hint.
func FuzzRead(f *testing.F) {
	src, err := os.ReadFile("testdata/design.yaml")
	require.NoError(f, err)
	f.Add(string(src))
	f.Add("f: {types: {T: [int8]}, args: {x: 'T[n*2, ...]? strided', s: 'list[int]'}, returns: {y: 'T[n // s[3], " +
		"...]'}}")
	mistakes, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(f, err)
	for text := range strings.Lines(string(mistakes)) {
		f.Add(strings.ReplaceAll(text, `\n`, "\n"))
	}
	f.Fuzz(func(t *testing.T, src string) {
		all, found := readings(src)
		for _, r := range all {
			assert.True(t, r.Valid || len(found) > 0, "%q", src)
		}
		for _, d := range found {
			isSummary := d.Pos.Line == 0 && d.Code == "too-many" // of omitted findings
			assert.True(t, isSummary || d.Pos.Line > 0 && d.Hint != "", "%s: %q", d.Text, src)
		}
	})
}

// The suggestions for misspelled keys are the keys of the schema.
func TestKeysAreThoseOfTheSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "schema", "config.json"))
	require.NoError(t, err)
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	assert.Equal(t, slices.Sorted(maps.Keys(schema.Defs["kernel"].Properties)), contract.Keys)
}
