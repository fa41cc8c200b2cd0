package config

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// keyTemplates makes a target one of the config's own.
const keyTemplates = "templates"

// isTemplated tells a target of the config's own from one of the table.
func (d *decoder) isTemplated(e yaml.Entry) bool {
	return e.Value.Kind == yaml.Mapping && !slices.Contains(d.table.Names(), e.Key.Value) &&
		slices.ContainsFunc(e.Value.Entries, func(k yaml.Entry) bool { return k.Key.Value == keyTemplates })
}

// templated reads a target that is made from a folder of templates.
func (d *decoder) templated(cfg *Config, e yaml.Entry, release string, asked *yaml.Node) {
	name := e.Key.Value
	if problem := d.table.CheckName(name); problem != "" {
		e.Key.Errorf("invalid-name", "as in rust", "the name %q of a target %s", name, problem)
		return
	}
	row := d.table.Templated(name)
	t := Target{Target: row, Path: row.Path, Release: release, Options: map[string]string{}, at: e.Value}
	m := e.Value.Map("target " + name)
	t.Templates = localPath(m.Get(keyTemplates), keyTemplates, "templates stand below the folder of the config")
	asked = d.settings(m, &t, asked)
	m.Close()
	d.place(cfg, t, orElse(asked, e.Value))
}
