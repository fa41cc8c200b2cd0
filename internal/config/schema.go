package config

import (
	_ "embed" // the part of the schema that no table decides
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

//go:embed schema.json
var schemaSource []byte

// object is a part of a JSON Schema.
type object = map[string]any

// Schema returns the JSON Schema of configs, for editors. It accepts every config that Decode
// accepts. It rejects unknown keys and values of the wrong type, but does not check relations
// between entries, such as an extent's symbol that no argument binds.
func Schema(sp *spec.Spec, table emit.Table) []byte {
	var s object
	if err := json.Unmarshal(schemaSource, &s); err != nil {
		panic(fmt.Sprintf("unreachable: the embedded schema is tested: %v", err))
	}
	targets := object{}
	for _, row := range table.Rows {
		targets[row.Name] = targetSchema(row)
	}
	part(s, "properties", "targets")["properties"] = targets
	part(s, "properties", "targets")["additionalProperties"] = templatedSchema(table)
	fillNames(part(s, "$defs"), sp, table)
	fillBackend(part(s, "$defs", "backend", "properties"))
	fillLines(part(s, "$defs"))
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("unreachable: maps of strings and numbers have a form in JSON: %v", err))
	}
	return append(text, '\n')
}

// part returns a nested object of the embedded schema.
func part(s object, keys ...string) object {
	for _, key := range keys {
		s, _ = s[key].(object)
	}
	return s
}

// targetSchema describes the entry of a target: the settings of every target, and its options.
func targetSchema(t emit.Target) object {
	settings := object{
		"path":   object{"description": "The folder, relative to out.", "$ref": "#/$defs/path", "default": t.Path},
		"dlpack": object{"$ref": "#/$defs/release"},
	}
	for _, o := range t.Options {
		setting := object{"description": o.Doc, "type": "string"}
		if o.Bool {
			setting["type"] = "boolean"
		}
		settings[o.Name] = setting
	}
	return object{"description": t.About() + "; DLPack " + t.Oldest + " and newer", "type": []string{"object", "null"},
		"additionalProperties": false, "properties": settings}
}

// templatedSchema describes the entry of a target that is rendered from users' templates.
func templatedSchema(table emit.Table) object {
	s := targetSchema(table.Templated("name"))
	settings, _ := s["properties"].(object)
	settings[keyTemplates] = object{"description": "The folder of the templates, relative to this file.",
		"$ref": "#/$defs/path"}
	part(settings, "path")["default"] = "the name of the target"
	s["type"], s["required"] = "object", []string{keyTemplates}
	return s
}

// fillNames adds the names of the spec and of the table of targets.
func fillNames(defs object, sp *spec.Spec, table emit.Table) {
	part(defs, "release")["enum"] = releases(sp)
	part(defs, "target")["enum"] = table.Names()
	part(defs, "class")["enum"] = contract.Classes
	part(defs, "form")["enum"] = kernel.Forms
	part(defs, "dtype")["enum"] = dtypes(sp)
}

// releases lists the spellings of each release: as text, and as the number that an unquoted one is
// in YAML.
func releases(sp *spec.Spec) []any {
	all := []any{latest}
	for _, r := range sp.Releases() {
		all = append(all, r.Version)
		if number, err := strconv.ParseFloat(r.Version, 64); err == nil {
			all = append(all, "v"+r.Version, number)
		}
	}
	return all
}

// dtypes lists the dtypes of all releases.
func dtypes(sp *spec.Spec) (names []string) {
	known := map[string]bool{}
	for _, info := range sp.Releases() {
		r, err := sp.Release(info.Version)
		if err != nil {
			panic(fmt.Sprintf("unreachable: the spec lists %s: %v", info.Version, err))
		}
		for _, d := range r.DTypes {
			if !known[d.Name] {
				known[d.Name], names = true, append(names, d.Name)
			}
		}
	}
	return names
}

// fillBackend lists the words of a backend's description.
func fillBackend(properties object) {
	device := part(properties, "devices", "items", "properties")
	part(device, "memory")["enum"], part(device, "id")["enum"] = backend.Memories, backend.IDs
	part(properties, "implementation")["enum"] = backend.Implementations
	part(properties, "errors", "additionalProperties", "properties", "kind")["enum"] = backend.Kinds
}

// fillLines sets the modifiers after a type, and the limits of a kernel.
func fillLines(defs object) {
	line := part(defs, "line")
	modifiers := strings.Join(notation.Modifiers, "|")
	line["pattern"] = strings.Replace(fmt.Sprint(line["pattern"]), "MODIFIERS", modifiers, 1)
	sections := part(defs, "kernel", "properties")
	part(sections, "args")["maxProperties"] = kernel.MaxArguments
	part(sections, "returns")["maxProperties"] = kernel.MaxResults
	part(sections, "lang")["enum"] = contract.Languages
}
