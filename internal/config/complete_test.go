package config_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// object is a JSON object.
type object = map[string]any

// parts lists the schemas that apply to a value: a schema and its references.
func parts(root, of object) (all []object) {
	all = append(all, of)
	if ref, ok := of["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		all = append(all, parts(root, root["$defs"].(object)[name].(object))...)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		choices, _ := of[word].([]any)
		for _, choice := range choices {
			all = append(all, parts(root, choice.(object))...)
		}
	}
	return all
}

// offered are the keys that an editor completes in a mapping. Forbidden keys have the schema false,
// and keys of earlier versions are marked.
func offered(all []object) (keys []string) {
	for _, part := range all {
		properties, _ := part["properties"].(object)
		for key, value := range properties {
			about, isObject := value.(object)
			if isObject && about["deprecated"] != true && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// below returns the schemas of the value of a key.
func below(root object, all []object, key string) (found []object) {
	for _, part := range all {
		properties, _ := part["properties"].(object)
		next := []any{properties[key]}
		if properties[key] == nil {
			patterns, _ := part["patternProperties"].(object)
			next = append(slices.Collect(maps.Values(patterns)), part["additionalProperties"])
		}
		for _, value := range next {
			if of, isObject := value.(object); isObject {
				found = append(found, parts(root, of)...)
			}
		}
	}
	return found
}

// accepted are the keys that the decoder accepts in a mapping of a config, or nil if it accepts any
// name. The hint of the finding about an unknown key lists them.
func accepted(t *testing.T, root, mapping *yaml.Node) []string {
	t.Helper()
	const unknown = "qqqqqqqqqqqq"
	whole := mapping.Entries
	mapping.Entries = append(slices.Clone(whole), yaml.Entry{Key: &yaml.Node{Value: unknown},
		Value: &yaml.Node{Value: "1", Quoted: true}})
	found := findings(flow(root))
	mapping.Entries = whole
	for _, finding := range found {
		if finding.Code == "unknown-key" && strings.HasSuffix(finding.Text, `no key "`+unknown+`"`) {
			list, isList := strings.CutPrefix(finding.Hint, "write one of these keys: ")
			require.True(t, isList, finding.Hint)
			return strings.Split(list, ", ")
		}
	}
	return nil
}

// uncompleted lists the mappings of a config whose keys differ between schema and decoder.
func uncompleted(t *testing.T, schema object, root *yaml.Node, seen map[string]bool) (places []string) {
	t.Helper()
	var walk func(path string, n *yaml.Node, all []object)
	walk = func(path string, n *yaml.Node, all []object) {
		for _, item := range n.Items {
			var next []object
			for _, part := range all {
				if items, ok := part["items"].(object); ok {
					next = append(next, parts(schema, items)...)
				}
			}
			walk(path+"[]", item, next)
		}
		if n.Kind != yaml.Mapping {
			return
		}
		if keys := accepted(t, root, n); keys != nil {
			seen[path] = true
			if !slices.Equal(keys, offered(all)) {
				places = append(places, path+": the decoder accepts "+strings.Join(keys, " ")+", the schema has "+
					strings.Join(offered(all), " "))
			}
		}
		for _, e := range n.Entries {
			walk(path+"."+e.Key.Value, e.Value, below(schema, all, e.Key.Value))
		}
	}
	walk("", root, parts(schema, schema))
	return places
}

// At each level, editors complete exactly the keys that the decoder accepts.
func TestTheSchemaCompletesWhatTheDecoderAccepts(t *testing.T) {
	var schema object
	require.NoError(t, json.Unmarshal(config.Schema(spec.Embedded(), targets.Table()), &schema))
	all := "version: 1\ntargets: {"
	for _, row := range targets.Table().Rows {
		all += row.Name + ": {path: p_" + row.Name + "}, "
	}
	vendor, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "vendor", "dlpackgen.yaml"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, text := range []string{everyKey, all + "}\n", string(vendor)} {
		var diags diag.List
		root := yaml.Parse("dlpackgen.yaml", []byte(text), &diags)
		require.NotNil(t, root)
		assert.Empty(t, uncompleted(t, schema, root, seen))
	}
	for _, level := range []string{"", ".targets", ".targets.python", ".targets.gokernels", ".devices.kDLAcme",
		".kernels.norm",
		".kernels.norm.devices.kDLCUDA", ".kernels.norm.errors.3", ".kernels.norm.backward", ".kernels.norm.test",
		".backends.clusm", ".backends.clusm.devices[]", ".backends.clusm.streams", ".backends.clusm.library",
		".backends.clusm.handles.platform", ".backends.clusm.constants.alloc_type", ".backends.clusm.functions.queue",
		".backends.clusm.errors.CL_INVALID_VALUE"} {
		assert.True(t, seen[level], "no mapping %q is compared", level)
	}
	kernel := schema["$defs"].(object)["kernel"].(object)["properties"].(object)
	kernel["later"] = kernel["doc"]
	delete(kernel, "gil")
	root := valueOf(t, "{version: 1, targets: {c: {}}, kernels: {f: {args: {x: 'int8[n]'}}}}")
	wrong := uncompleted(t, schema, &root, seen)
	require.Len(t, wrong, 1)
	assert.Regexp(t, `^\.kernels\.f: the decoder accepts .* form gil lang .*, the schema has .* form lang later .*`,
		wrong[0])
}
