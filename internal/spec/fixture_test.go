package spec

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source.Schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	return c.MustCompile("schema.json")
}

// value returns a node as a JSON Schema validator sees it.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.List:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, value(item))
		}
		return out
	case yaml.Mapping:
		out := map[string]any{}
		for _, e := range n.Entries {
			out[e.Key.Value] = value(e.Value)
		}
		return out
	}
	if n.Quoted {
		return n.Value
	}
	if b, err := strconv.ParseBool(n.Value); err == nil && len(n.Value) > 1 {
		return b
	}
	if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
		return f
	}
	return n.Value
}

func fixtures(t *testing.T, file string) []txtar.File {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, archive.Files)
	return archive.Files
}

func TestSchemaAndDecoderAgreeOnEveryShape(t *testing.T) {
	s := schema(t)
	for _, f := range fixtures(t, "testdata/shape.txtar") {
		t.Run(f.Name, func(t *testing.T) {
			diags := &diag.List{}
			root := yaml.Parse(f.Name, f.Data, diags)
			require.NotNil(t, root)
			decode(root)
			good := strings.HasPrefix(f.Name, "ok-")
			assert.Equal(t, good, !diags.Failed(), "decoder: %v", diags.Sorted())
			err := s.Validate(value(root))
			assert.Equal(t, good, err == nil, "schema: %v", err)
			for _, d := range diags.Sorted() {
				assert.NotZero(t, d.Pos.Line)
				assert.NotZero(t, d.Pos.Col)
				assert.NotEmpty(t, d.Code)
			}
		})
	}
}

func TestSpecsWithoutMeaningAreRejectedByTheDecoderAlone(t *testing.T) {
	s := schema(t)
	for _, f := range fixtures(t, "testdata/meaning.txtar") {
		name, want, _ := strings.Cut(f.Name, " ")
		t.Run(name, func(t *testing.T) {
			diags := &diag.List{}
			root := yaml.Parse("s.yaml", f.Data, diags)
			require.NotNil(t, root)
			assert.NoError(t, s.Validate(value(root)))
			spec, found := Load("s.yaml", f.Data)
			assert.Nil(t, spec)
			var got []string
			for _, d := range found.Sorted() {
				if d.Severity == diag.Error {
					at := strings.TrimPrefix(d.Pos.String(), "s.yaml:")
					got = append(got, strings.TrimSpace(d.Code+" "+at+" "+d.Hint))
				}
			}
			require.Len(t, got, 1)
			assert.True(t, strings.HasPrefix(got[0], want), "want %s, got %s", want, got[0])
		})
	}
}

func TestTheEmbeddedSpecAndOneOfEachFitTheSchema(t *testing.T) {
	each, err := os.ReadFile("testdata/one-of-each.yaml")
	require.NoError(t, err)
	for _, src := range [][]byte{source.YAML, each} {
		diags := &diag.List{}
		root := yaml.Parse("s.yaml", src, diags)
		require.NotNil(t, root)
		assert.NoError(t, schema(t).Validate(value(root)))
		_, diags = Load("s.yaml", src)
		assert.Empty(t, diags.Sorted())
	}
}
