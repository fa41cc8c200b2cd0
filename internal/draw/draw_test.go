package draw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func field(name, kind string) spec.Field {
	return spec.Field{Name: name, Type: spec.Type{Kind: spec.Named, Name: kind}}
}

func scalar(name, kind string) spec.Field {
	return spec.Field{Name: name, Type: spec.Type{Kind: spec.Builtin, Name: kind}}
}

// awkward has features that DLPack lacks: nested structs across row ends, deep nesting, and names
// longer than their boxes.
func awkward() *spec.Release {
	r := &spec.Release{Version: "0.0", Decls: []spec.Decl{
		&spec.Enum{Name: "Small", Values: []spec.EnumValue{{Value: -1}}},
		&spec.Callback{Name: "Call"},
		&spec.Struct{Name: "Three",
			Fields: []spec.Field{scalar("a", "uint32"), scalar("b", "uint32"), scalar("c", "uint32")}},
		&spec.Alias{Name: "AlsoThree", Target: "Three"},
		&spec.Struct{Name: "Across", Tag: true, Fields: []spec.Field{
			scalar("first", "uint32"), field("inner", "Three"), field("other", "AlsoThree"), field("kind", "Small"),
			scalar("last", "uint8"),
		}},
		&spec.Struct{Name: "Names", Fields: []spec.Field{
			scalar(strings.Repeat("one_byte_", 5), "uint8"), scalar(strings.Repeat("eight_bytes_", 12), "uint64"),
			field("call", "Call"),
			{Name: "text", Type: spec.Type{Kind: spec.Pointer, Elem: &spec.Type{Kind: spec.Builtin, Name: "char",
				Const: true}}},
		}},
		&spec.Struct{Name: "Level1", Fields: []spec.Field{scalar("b", "int16"), field("three", "Three")}},
	}}
	for _, level := range []string{"2", "3", "4", "5", "6"} {
		below := "Level" + string(level[0]-1)
		r.Decls = append(r.Decls,
			&spec.Struct{Name: "Level" + level, Fields: []spec.Field{scalar("n", "uint8"), field("down", below)}})
	}
	return r
}

func tables(r *spec.Release, models ...layout.Model) []*layout.Table {
	var out []*layout.Table
	for _, m := range models {
		out = append(out, layout.Of(r, m, layout.C))
	}
	return out
}

func release(t *testing.T, version string) *spec.Release {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return r
}

func TestDrawingsAreUpToDate(t *testing.T) {
	all := tables(awkward(), layout.Models()...)
	dlpack := tables(release(t, "1.3"), layout.LP64)
	made := map[string][]byte{
		"draw/awkward.txt":  []byte(Text(all, nil)),
		"draw/awkward.json": JSON(all, nil),
		"draw/awkward.svg":  SVG(all, nil),
		"draw/one.txt":      []byte(Text(dlpack, []string{"DLTensor", "DLDeviceType"})),
		"draw/dlpack.svg":   SVG(dlpack, nil),
	}
	var owned []string
	for name, data := range made {
		golden.Assert(t, name, data)
		owned = append(owned, name)
	}
	golden.Orphans(t, "draw", owned)
}

func TestDrawingsOfSelectedTypes(t *testing.T) {
	one := tables(release(t, "1.3"), layout.LP64, layout.I386)
	for name, got := range map[string]string{
		"text": Text(one, []string{"DLDevice"}), "json": string(JSON(one, []string{"DLDevice"})),
		"svg": string(SVG(one, []string{"DLDevice"})),
	} {
		assert.Contains(t, got, "device_id", name)
		assert.NotContains(t, got, "DLTensor", name)
		assert.NotContains(t, got, "DLDataTypeCode", name)
	}
	assert.Contains(t, Text(one, []string{"DLDeviceType"}), "unsigned   DLDeviceType\n")
	assert.NotEmpty(t, one[0].Structs, "the caller's tables stay whole")
}

func TestEmptyDrawings(t *testing.T) {
	assert.Empty(t, Text(nil, nil))
	assert.JSONEq(t, `{"version": 1, "dlpack": "", "lang": "", "models": []}`, string(JSON(nil, nil)))
	assert.Contains(t, string(SVG(nil, nil)), "</svg>")
}

// A struct that refers to itself can use only the tag before its definition.
func TestDeclarationsAreThoseOfTheHeader(t *testing.T) {
	text := Text(tables(release(t, "1.3"), layout.LP64), nil)
	assert.Contains(t, text, "struct DLPackExchangeAPIHeader *prev_api\n")
	assert.Contains(t, text, "void (*deleter)(struct DLManagedTensor *self)\n")
}

func layoutSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(golden.Root(t), "docs", "schema", "layout.json"))
	require.NoError(t, err)
	return schema
}

func TestJSONKeepsItsSchema(t *testing.T) {
	schema := layoutSchema(t)
	for _, info := range spec.Embedded().Releases() {
		data := JSON(tables(release(t, info.Version), layout.Models()...), nil)
		require.NoError(t, validate(t, schema, data), info.Version)
	}
	data := JSON(tables(awkward(), layout.LP64), nil)
	for _, key := range []string{"version", "lang", "signed", "offset", "align", "doc", "holes"} {
		broken := strings.ReplaceAll(string(data), `"`+key+`":`, `"other":`)
		require.NotEqual(t, string(data), broken, key)
		assert.Error(t, validate(t, schema, []byte(broken)), "without %s", key)
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, data []byte) error {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(data, &value))
	return schema.Validate(value)
}

func TestSchemaIsCommitted(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "schema", "layout.json"))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"version": {"const": 1}`)
	assert.Equal(t, 1, Version, "a new version needs a new schema")
}
