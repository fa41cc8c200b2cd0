package modeldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func document(t *testing.T, version string) Document {
	t.Helper()
	r, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	return Of(r, nil)
}

func validate(t *testing.T, doc []byte) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(golden.Root(t), "docs", "schema", "model.json"))
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	return schema.Validate(value)
}

func TestEachReleaseObeysTheSchema(t *testing.T) {
	for _, r := range spec.Embedded().Releases() {
		assert.NoError(t, validate(t, document(t, r.Version).JSON()), r.Version)
	}
}

func TestSchemaRejectsOtherDocuments(t *testing.T) {
	good := string(document(t, "1.3").JSON())
	for _, change := range [][2]string{
		{`"version": 1,`, `"version": 2,`}, {`"macros": [`, `"macro": [`}, {`"kind": "pointer"`, `"kind": "reference"`},
		{`"lp64": 0,`, `"lp64": "0",`}, {`"literal": "1",`, ``},
	} {
		bad := strings.ReplaceAll(good, change[0], change[1])
		require.NotEqual(t, good, bad)
		assert.Error(t, validate(t, []byte(bad)), change[1])
	}
}

func TestDocumentOfARelease(t *testing.T) {
	golden.Assert(t, "model/1.3.json", document(t, "1.3").JSON())
}

func TestKernels(t *testing.T) {
	float32, int8 := spec.DType{Name: "float32"}, spec.DType{Name: "int8"}
	k := contract.Kernel{Name: "scale", Vars: []contract.Var{{Name: "T", Types: []spec.DType{float32, int8}}},
		Args: []contract.Param{
			{Name: "x", Line: "T[n] inout", Kind: contract.Tensor, Types: []spec.DType{float32, int8},
				Access: contract.InOut},
			{Name: "by", Line: "float", Kind: contract.Float, Var: contract.None}},
		Devices: []contract.Device{{Name: "kDLCPU",
			Functions: []contract.Function{{Symbol: "scale_int8", Types: []int{1}}}}}}
	r, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	doc := Of(r, []contract.Kernel{k})
	require.NoError(t, validate(t, doc.JSON()))
	assert.Equal(t, Kernel{Name: "scale", Lang: "c", Types: []Variable{{"T", []string{"float32", "int8"}}},
		Args: []KernelParam{
			{Name: "x", Line: "T[n] inout", Kind: "tensor", Variable: "T", DTypes: []string{"float32", "int8"},
				Access: "inout", Layout: "contiguous"},
			{Name: "by", Line: "float", Kind: "float", DTypes: []string{}}},
		Returns:   []KernelParam{},
		Functions: []Function{{"scale_int8", "kDLCPU", map[string]string{"T": "int8"}}}}, doc.Kernels[0])
}

// docs/model.md is generated from the descriptions in the schema; -update rewrites it.
func TestReferenceIsTheSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "schema", "model.json"))
	require.NoError(t, err)
	golden.Assert(t, "../docs/model.md", []byte(reference(t, text)))
}

// node is the part of a JSON Schema that the page shows.
type node struct {
	Description string
	Type        any
	Ref         string `json:"$ref"`
	Items       *node
	Enum        []any
	Const       any
	AnyOf       []node
	Additional  json.RawMessage `json:"additionalProperties"`
	Required    []string        // in the order of the document
	Properties  map[string]node
	Defs        map[string]node `json:"$defs"`
}

const intro = `# The model

The model is one release of DLPack as data, with the layouts of its types and the kernels of a
config. ` + "`dlpackgen model`" + ` prints it as JSON. Templates of
[your own targets](how-to/own-target.md) read it under the same keys. This page is generated from
its JSON Schema, [model.json](schema/model.json).

All keys are always present. If a text does not apply, it is empty; if an object does not apply, it
is null. Any version of dlpackgen may add keys. Any other change increments ` + "`version`" + `.
`

func reference(t *testing.T, schema []byte) string {
	t.Helper()
	var root node
	require.NoError(t, json.Unmarshal(schema, &root))
	var b strings.Builder
	b.WriteString(intro)
	table(&b, "The document", root)
	for _, name := range order(root) {
		table(&b, name, root.Defs[name])
	}
	return b.String()
}

// order lists the definitions in the order of their first reference.
func order(root node) (names []string) {
	queue := []node{root}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, key := range n.Required {
			for _, name := range references(n.Properties[key]) {
				if !slices.Contains(names, name) {
					names, queue = append(names, name), append(queue, root.Defs[name])
				}
			}
		}
	}
	return names
}

func references(n node) (names []string) {
	if n.Ref != "" {
		names = append(names, strings.TrimPrefix(n.Ref, "#/$defs/"))
	}
	if n.Items != nil {
		names = append(names, references(*n.Items)...)
	}
	for _, one := range n.AnyOf {
		names = append(names, references(one)...)
	}
	if string(n.Additional) != "" && string(n.Additional) != "false" {
		names = append(names, references(additional(n))...)
	}
	return names
}

// additional is the schema of unlisted keys.
func additional(n node) (of node) {
	if err := json.Unmarshal(n.Additional, &of); err != nil {
		return node{}
	}
	return of
}

func table(b *strings.Builder, title string, n node) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | type | meaning |\n|---|---|---|\n", title, n.Description)
	for _, key := range n.Required {
		p := n.Properties[key]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, typeName(p), p.Description)
	}
}

func typeName(n node) string {
	switch {
	case n.Ref != "":
		name := strings.TrimPrefix(n.Ref, "#/$defs/")
		return fmt.Sprintf("[%s](#%s)", name, name)
	case n.Items != nil:
		return "list of " + typeName(*n.Items)
	case len(n.AnyOf) > 0:
		return typeName(n.AnyOf[0]) + " or null"
	case n.Const != nil:
		return fmt.Sprint(n.Const)
	case len(n.Enum) > 0:
		return "string"
	case n.Type == "object":
		return "map of " + typeName(additional(n))
	}
	return fmt.Sprint(n.Type)
}
