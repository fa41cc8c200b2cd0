package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// checkPrefix reads the key `prefix`, unless the command line sets it, and rejects it for targets
// whose names are fixed. n is nil if the config lacks the key.
func (d *decoder) checkPrefix(cfg *Config, n *yaml.Node) {
	if n != nil {
		cfg.Prefix = n.Text("prefix")
	}
	cfg.Prefix = cmp.Or(d.choice.Prefix, cfg.Prefix)
	report := func(code, hint, format string, args ...any) {
		if n != nil && d.choice.Prefix == "" {
			n.Errorf(code, hint, format, args...)
			return
		}
		d.diags.Add(diag.Diagnostic{Severity: diag.Error, Code: code, Hint: hint, Text: fmt.Sprintf(format, args...)})
	}
	if cfg.Prefix == "" {
		return
	}
	if wrong := emit.CheckPrefix(cfg.Prefix); wrong != "" {
		report("invalid-prefix",
			"the name of your project in lower-case letters, digits and single _, with _ as the last "+
				"character", "the prefix %s", wrong)
	}
	for _, t := range cfg.Selected {
		if !t.Prefixable {
			report("no-prefix", "use --only with targets that support a prefix: "+strings.Join(d.prefixable(), ", "),
				"target %s does not support a prefix: only C files can be vendored under a prefix", t.Name)
		}
		checkUnprefixed(t)
	}
}

// prefixable lists the built-in targets that support a prefix.
func (d *decoder) prefixable() (names []string) {
	for _, row := range d.table.Rows {
		if row.Prefixable {
			names = append(names, row.Name)
		}
	}
	return names
}

// checkUnprefixed reports options that are set and do not support a prefix.
func checkUnprefixed(t Target) {
	for _, o := range t.Target.Options {
		if !o.Unprefixed || t.Options[o.Name] != "true" {
			continue
		}
		i := slices.IndexFunc(t.at.Entries, func(e yaml.Entry) bool { return e.Key.Value == o.Name })
		t.at.Entries[i].Value.Errorf("no-prefix", "omit the prefix, or "+o.Name+": true",
			"target %s has %s: true, which does not support a prefix", t.Name, o.Name)
	}
}
