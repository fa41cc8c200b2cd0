package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// node is the part of a JSON Schema that the page of the config shows.
type node struct {
	Ref         string           `json:"$ref"`
	Type        any              `json:"type"`
	Description string           `json:"description"`
	Default     any              `json:"default"`
	Const       any              `json:"const"`
	Enum        []any            `json:"enum"`
	Properties  map[string]*node `json:"properties"`
	Additional  json.RawMessage  `json:"additionalProperties"`
	Patterns    map[string]*node `json:"patternProperties"`
	Items       *node            `json:"items"`
	Required    []string         `json:"required"`
	Defs        map[string]*node `json:"$defs"`
	AnyOf       []*node          `json:"anyOf"`
	OneOf       []*node          `json:"oneOf"`
}

// configReader converts the schema of configs to tables, one for each mapping.
type configReader struct {
	page *markdown
	defs map[string]*node
	done map[string]bool
}

func configPage(schema []byte) ([]byte, error) {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("docs/schema/config.json: %w", err)
	}
	page := newPage("Keys of dlpackgen.yaml", "Every key of the config, from the JSON Schema that `dlpackgen schema` "+
		"prints. [The command line](../cli.md#the-config) has an example; [Describing a kernel](../kernels.md) "+
		"explains `kernels`.")
	r := &configReader{page: page, defs: root.Defs, done: map[string]bool{}}
	r.mapping("Top level", &root)
	return page.bytes(), nil
}

// mapping writes the table of a mapping, followed by the tables of nested mappings.
func (r *configReader) mapping(name string, n *node) {
	if r.done[name] {
		return
	}
	r.done[name] = true
	r.page.heading(name)
	r.page.row("Key", "Type", "Default", "Meaning")
	r.page.row("---", "---", "---", "---")
	keys := slices.Sorted(maps.Keys(n.Properties))
	for _, key := range keys {
		r.key(n, key)
	}
	r.page.line("")
	for _, key := range keys {
		r.below(join(name, key), n.Properties[key])
	}
}

func (r *configReader) key(n *node, key string) {
	value := r.resolve(n.Properties[key])
	fallback := ""
	switch {
	case slices.Contains(n.Required, key):
		fallback = "required"
	case value.Default != nil:
		fallback = "`" + text(value.Default) + "`"
	}
	r.page.row("`"+key+"`", r.kind(value), fallback, value.Description)
}

// below continues with the value of a key: a mapping, or entries that are mappings.
func (r *configReader) below(name string, n *node) {
	n = r.resolve(n)
	if len(n.Properties) > 0 {
		r.mapping(name, n)
	}
	if entry := r.entry(n); entry != nil && len(entry.Properties) > 0 {
		r.mapping(join(name, "NAME"), entry)
	}
	for _, entry := range n.Patterns { // numbers are the configs' only ones
		r.mapping(join(name, "NUMBER"), r.resolve(entry))
	}
	if n.Items != nil && len(r.resolve(n.Items).Properties) > 0 {
		r.mapping(name+"[]", r.resolve(n.Items))
	}
}

// entry is the schema of the values of a mapping with free names.
func (r *configReader) entry(n *node) *node {
	var entry node
	if len(n.Additional) == 0 || n.Additional[0] != '{' || json.Unmarshal(n.Additional, &entry) != nil {
		return nil
	}
	return r.resolve(&entry)
}

// resolve follows a reference; its own description wins.
func (r *configReader) resolve(n *node) *node {
	name, found := strings.CutPrefix(n.Ref, "#/$defs/")
	if !found || r.defs[name] == nil {
		return n
	}
	out := *r.resolve(r.defs[name])
	if n.Description != "" {
		out.Description = n.Description
	}
	if n.Default != nil {
		out.Default = n.Default
	}
	return &out
}

func (r *configReader) kind(n *node) string {
	switch {
	case n.Const != nil:
		return "`" + text(n.Const) + "`"
	case len(n.Enum) > 0 && len(n.Enum) <= 12:
		return "`" + strings.Join(slices.Compact(texts(n.Enum)), "`, `") + "`"
	case n.Items != nil:
		return "list of " + r.kind(r.resolve(n.Items))
	case len(n.Properties) > 0 || r.entry(n) != nil:
		return "mapping"
	case n.Type == nil:
		return "text"
	}
	names := strings.ReplaceAll(strings.Trim(text(n.Type), "[]"), " ", " or ")
	return strings.NewReplacer("object", "mapping", "array", "list", "string", "text").Replace(names)
}

func join(name, key string) string {
	if name == "Top level" {
		return key
	}
	return name + "." + key
}

func text(value any) string { return fmt.Sprint(value) }

func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}
