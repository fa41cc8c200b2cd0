package config

import (
	"path"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// keyTemplates is the key that marks a target as defined by the config.
const keyTemplates = "templates"

// isTemplated reports whether the config, not the table, defines a target.
func (d *decoder) isTemplated(e yaml.Entry) bool {
	return e.Value.Kind == yaml.Mapping && !slices.Contains(d.table.Names(), e.Key.Value) &&
		slices.ContainsFunc(e.Value.Entries, func(k yaml.Entry) bool { return k.Key.Value == keyTemplates })
}

// templated reads a target that is rendered from a folder of templates.
func (d *decoder) templated(cfg *Config, e yaml.Entry, release string, requested *yaml.Node) {
	name := e.Key.Value
	if problem := d.table.CheckName(name); problem != "" {
		e.Key.Errorf("invalid-name", "as in rust", "the name %q of a target %s", name, problem)
		return
	}
	row := d.table.Templated(name)
	t := Target{Target: row, Path: row.Path, Release: release, Options: map[string]string{}, at: e.Value}
	m := e.Value.Map("target " + name)
	t.templatesAt = m.Get(keyTemplates)
	t.Templates = localPath(t.templatesAt, keyTemplates, "templates must be below the folder of the config")
	requested = d.settings(m, &t, requested)
	m.Close()
	d.place(cfg, t, orElse(requested, e.Value))
}

// TemplatesFinding returns an error at the value of templates.
func (t Target) TemplatesFinding(hint, format string, args ...any) diag.Diagnostic {
	return t.templatesAt.Finding("template-file", hint, format, args...)
}

// checkTemplateFolders rejects targets that write into a folder of templates, because the next run
// would read the output as templates. Case is ignored, as on some file systems.
func checkTemplateFolders(cfg *Config) {
	all := slices.Concat(cfg.Selected, cfg.Others)
	owners := map[string][]Target{} // by folder; many targets may name one
	for _, own := range all {
		if own.templatesAt != nil && isPath(own.templatesAt) {
			folder := relpath.Fold(own.Templates)
			owners[folder] = append(owners[folder], own)
		}
	}
	for _, t := range all {
		to := path.Join(cfg.Out, t.Path)
		for _, folder := range above(relpath.Fold(to)) {
			for _, own := range owners[folder] {
				own.templatesAt.Errorf("path-conflict",
					"move the templates to a folder where no target writes, such as "+
						"templates/"+own.Name, "target %s writes to %s, in the folder of the templates of target %s",
					t.Name, to,
					own.Name)
			}
		}
	}
}

// above returns a clean path and its parent folders, ending with ".".
func above(name string) (all []string) {
	for ; name != "."; name = path.Dir(name) {
		all = append(all, name)
	}
	return append(all, ".")
}
