package config

import (
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// checkNeeds reports targets that include headers which neither another target of the config nor
// another config (`elsewhere`) generates.
func (d *decoder) checkNeeds(cfg *Config, section *yaml.Node) {
	all := slices.Concat(cfg.Selected, cfg.Others)
	there := d.elsewhere(all, section)
	for _, t := range all {
		there = append(there, t.Name)
	}
	for _, t := range all {
		for _, require := range t.Needs {
			if t.at == nil {
				continue
			}
			if !slices.Contains(there, require) && !d.missed {
				t.at.Errorf("needs-target",
					fmt.Sprintf("add `%s: {}` to targets; or, if another config generates its headers, `elsewhere: "+
						"[%s]`", require, require),
					"target %s includes headers of target %s, which this config does not generate", t.Name, require)
			}
			d.checkNeededRelease(t, require, all)
			d.checkNeededFolder(t, require, all)
		}
	}
	d.checkSharedTypes(all, there)
}

// checkSharedTypes notes backends whose Go types differ because the config does not generate the
// package that they would share. Configs without other Go output probably use only the C of
// backends.
func (d *decoder) checkSharedTypes(all []Target, there []string) {
	var separate []Target
	inGo := false
	for _, t := range all {
		inGo = inGo || t.Options[emit.OptionImport] != "" || t.Has(emit.OptionImport) && len(t.Imports) == 0
		if t.at != nil && slices.Contains(t.Imports, emit.SharedDevice) {
			separate = append(separate, t)
		}
	}
	if len(separate) < 2 || !inGo || d.missed || slices.Contains(there, emit.SharedDevice) {
		return
	}
	last := separate[len(separate)-1]
	last.at.Notef("separate-types", fmt.Sprintf("add `%s: {}` to targets", emit.SharedDevice),
		"the Go packages of targets %s and %s have separate types, such as %s.Stream and %s.Stream",
		separate[0].Name, last.Name, separate[0].Name, last.Name)
}

// checkNeededRelease reports headers of an older release than the files that include them, because
// they lack the newer declarations.
func (d *decoder) checkNeededRelease(t Target, require string, all []Target) {
	number := func(version string) int {
		return slices.IndexFunc(d.spec.Releases(), func(r spec.ReleaseInfo) bool { return r.Version == version })
	}
	for _, other := range all {
		if other.Name == require && number(other.Release) < number(t.Release) {
			t.at.Errorf("needs-release",
				fmt.Sprintf("generate target %s for %s or newer, or target %s for %s", require, t.Release, t.Name,
					other.Release),
				"target %s, for DLPack %s, includes headers of target %s, which this config generates for %s", t.Name,
				t.Release, require, other.Release)
		}
	}
}

// checkNeededFolder reports headers that an option combines into one file although a target
// includes them by name.
func (d *decoder) checkNeededFolder(t Target, require string, all []Target) {
	for _, other := range all {
		if other.Name == require && other.Single != "" && other.Options[other.Single] == "true" {
			t.at.Errorf("needs-folder", fmt.Sprintf("remove `%s: true`", other.Single),
				"target %s includes headers of target %s, which this config combines into one file", t.Name, require)
		}
	}
}

// elsewhere reads the targets that other configs generate.
func (d *decoder) elsewhere(all []Target, section *yaml.Node) []string {
	if section == nil || isEmpty(section) {
		return nil
	}
	var there []string
	unread := func(n *yaml.Node) bool { return n.Kind != yaml.Scalar }
	d.missed = d.missed || section.Kind != yaml.List || slices.ContainsFunc(section.Items, unread)
	for _, n := range section.List("elsewhere") {
		name := n.OneOf("a target of elsewhere", d.table.Names())
		if slices.ContainsFunc(all, func(t Target) bool { return t.Name == name }) {
			n.Errorf("elsewhere", "remove one of the two entries", "target %s is listed under targets too", name)
		}
		there = append(there, name)
	}
	return there
}
