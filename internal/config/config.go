// Package config decodes dlpackgen.yaml into the targets of a run, with their paths, releases and
// options. It does not access the disk. The caller passes the table of targets.
package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// File is the name of the config that a run looks for in the current directory.
const File = "dlpackgen.yaml"

// Version is the only value of the key `version`.
const Version = 1

// latest is the release of a target that names none.
const latest = "latest"

// Config is a decoded config.
type Config struct {
	Prefix    string   // of the names of C, in a copy that is vendored; "" for none
	Out       string   // slashes; relative to the config's own folder
	Release   string   // of the targets that name none
	Selected  []Target // in the order of the table of targets
	Others    []Target // of the config, but not selected for this run
	Devices   []spec.EnumValue
	Contracts []contract.Kernel  // those that are described by args and returns, likewise
	Backends  []*backend.Backend // likewise; each is also a target
	section   []spec.EnumValue   // those of Devices that no backend brings
}

// Target is a row of the table with its settings in the config.
type Target struct {
	emit.Target
	Path    string // slashes; relative to out
	Release string // as spec.ReleaseInfo.Version spells it
	Options map[string]string
	// Templates is the template folder of a target that the config defines: slashes, relative to
	// the config's folder.
	Templates   string
	Backend     *backend.Backend // of a target that is a backend of the config's own; nil for others
	at          *yaml.Node       // its position in the config, or nil
	templatesAt *yaml.Node       // the value of that key; nil without one
}

// Choice holds the flags of the command line that apply to every config.
type Choice struct {
	Release string   // replaces every release that the config names; "" keeps them
	Prefix  string   // replaces that of the config; "" keeps it
	Only    []string // the targets to select; none selects all
	// AnyKernels accepts kernels that a listed target does not support.
	AnyKernels bool
}

// LockName returns the name of a config's lock. A name that consists of an extension, such as
// .yaml, is kept.
func LockName(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return cmp.Or(strings.TrimSuffix(base, path.Ext(base)), base) + ".lock"
}

// Default returns every target at its default path, for the latest release.
func Default(sp *spec.Spec, table emit.Table, choice Choice) (*Config, *diag.List) {
	d := &decoder{spec: sp, table: table, choice: choice, diags: &diag.List{}}
	release := d.chosenRelease(latest)
	cfg := &Config{Out: ".", Release: release, Prefix: d.choice.Prefix}
	for _, row := range d.table.Rows {
		if !row.OnRequest {
			d.place(cfg, Target{Target: row, Path: row.Path, Release: release}, nil)
		}
	}
	d.checkOnly(cfg)
	d.checkPrefix(cfg, nil)
	return cfg, d.diags
}

// Decode reads a config. The list contains all findings; the config is nil if one of them is an
// error.
func Decode(file string, src []byte, sp *spec.Spec, table emit.Table, choice Choice) (*Config, *diag.List) {
	d := &decoder{file: file, spec: sp, table: table, choice: choice, diags: &diag.List{}}
	root := yaml.Parse(file, src, d.diags)
	if root == nil {
		return nil, d.diags
	}
	cfg := d.config(root)
	if d.diags.Failed() {
		return nil, d.diags
	}
	return cfg, d.diags
}

// decoder is the state of one Decode.
type decoder struct {
	file   string
	spec   *spec.Spec
	table  emit.Table
	choice Choice
	diags  *diag.List
	torch  map[string]string // PyTorch's keys by the device types that the config declares
	// missed: targets of the config are missing or could not be read, so that others miss what they
	// would make. The names of the config's release are then known.
	missed bool
}

func (d *decoder) config(root *yaml.Node) *Config {
	m := root.Map("the config")
	d.version(m)
	cfg := &Config{Out: "."}
	release := d.chosenRelease(latest)
	requested := m.Get("dlpack")
	if requested != nil {
		release = d.release(requested)
	}
	cfg.Release = release
	if n := m.Get("out"); n != nil {
		cfg.Out = localPath(n, "out", "the command line accepts any folder: --out DIR")
	}
	backends := m.Get("backends")
	d.missed = !d.targets(cfg, m, backends != nil, release, requested)
	own := d.backends(cfg, backends, release, requested)
	cfg.Devices = d.devices(cfg, m.Get("devices"), own)
	d.checkBackends(cfg, own)
	d.checkPrefix(cfg, m.Get("prefix"))
	kernels := m.Get("kernels")
	cfg.Contracts = d.kernels(cfg, kernels)
	d.checkContractsAreUsed(cfg, kernels)
	d.checkNeeds(cfg, m.Get("elsewhere"))
	checkTemplateFolders(cfg)
	m.Close()
	d.checkOnly(cfg)
	return cfg
}

// version rejects a config for a newer dlpackgen before the rest is misread.
func (d *decoder) version(m *yaml.Map) {
	line := fmt.Sprintf("`version: %d`", Version)
	if n := m.RequireAs("version", "add "+line); n != nil && n.Value != fmt.Sprint(Version) {
		n.Errorf("config-version", "write "+line,
			"this dlpackgen reads configs of version %d, not %q", Version, n.Value)
	}
}

// targets reads the section `targets`, in the order of the table, and reports whether it read all
// of them. If the config has backends, the section may be absent or empty.
func (d *decoder) targets(cfg *Config, m *yaml.Map, optional bool, release string, requested *yaml.Node) bool {
	section := m.Get("targets")
	if section == nil {
		hint := "add `targets: {c: {}}`; `dlpackgen list targets` lists the targets"
		return optional || m.RequireAs("targets", hint) != nil
	}
	if section.Kind != yaml.Mapping {
		section.Errorf("type-mismatch", "write the targets as keys, such as {"+d.firstTarget(section)+": {}}",
			"targets must be a mapping, not %s", section.Kind)
		return false
	}
	tm := section.Map("targets")
	for _, row := range d.table.Rows {
		if n := tm.Get(row.Name); n != nil {
			d.target(cfg, row, n, release, requested)
		}
	}
	for _, e := range section.Entries {
		if d.isTemplated(e) {
			tm.Get(e.Key.Value)
			d.templated(cfg, e, release, requested)
		}
	}
	none := !optional && len(section.Entries) == 0
	if none {
		section.Errorf("no-targets", "list one, such as `c: {}`", "the config lists no target")
	}
	return tm.Close() && !none
}

// firstTarget returns the first target that a list or a value names, or c.
func (d *decoder) firstTarget(section *yaml.Node) string {
	for _, n := range append(section.Items, section) {
		if slices.Contains(d.table.Names(), n.Value) {
			return n.Value
		}
	}
	return "c"
}

// target reads one entry. `c:` is equivalent to `c: {}`.
func (d *decoder) target(cfg *Config, row emit.Target, n *yaml.Node, release string, requested *yaml.Node) {
	t := Target{Target: row, Path: row.Path, Release: release, Options: map[string]string{}, at: n}
	switch {
	case isEmpty(n):
		checkRequired(t, nil)
	case n.Kind != yaml.Mapping:
		n.Errorf("type-mismatch", "write {}, with the settings of the target in it",
			"target %s must be a mapping, not %s",
			row.Name, n.Kind)
	default:
		m := n.Map("target " + row.Name)
		requested = d.settings(m, &t, requested)
		checkRequired(t, m)
		m.Close()
	}
	d.place(cfg, t, orElse(requested, n))
}

// checkRequired reports missing options that the target requires. m has its settings, and is nil
// without settings.
func checkRequired(t Target, m *yaml.Map) {
	for _, o := range t.Target.Options {
		if !o.Required || t.Options[o.Name] != "" {
			continue
		}
		if m != nil && m.Get(o.Name) == nil {
			m.Missed(o.Name)
		}
		if m == nil || m.Get(o.Name) == nil || m.Get(o.Name).Kind == yaml.Scalar {
			t.at.Errorf("missing-key", o.Name+": "+o.Doc, "target %s needs option %s", t.Name, o.Name)
		}
	}
}

// settings reads the common settings of targets, and the options. It returns the position of the
// release.
func (d *decoder) settings(m *yaml.Map, t *Target, requested *yaml.Node) *yaml.Node {
	if p := m.Get("path"); p != nil {
		t.Path = localPath(p, "path", "paths are relative to `out`: change `out` instead")
	}
	if own := m.Get("dlpack"); own != nil {
		t.Release, requested = d.release(own), own
	}
	for _, o := range t.Target.Options {
		if v := m.Get(o.Name); v != nil {
			t.Options[o.Name] = option(v, o)
		}
	}
	return requested
}

func orElse(n, other *yaml.Node) *yaml.Node {
	if n == nil {
		return other
	}
	return n
}

// isEmpty reports whether a key has no value.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.Scalar && n.Value == "" && !n.Quoted
}

func option(n *yaml.Node, o emit.Option) string {
	if o.Bool {
		return strconv.FormatBool(n.Bool(o.Name))
	}
	value := n.Text(o.Name)
	if n.Kind == yaml.Scalar && o.Check != nil {
		if problem := o.Check(value); problem != "" {
			n.Errorf("invalid-option", o.Doc, "%s: %s", o.Name, problem)
		}
	}
	return value
}

// place adds a target to the selected ones or to the others, and rejects a selected target whose
// release is too old for it. at is the position of the release, or nil.
func (d *decoder) place(cfg *Config, t Target, at *yaml.Node) {
	if len(d.choice.Only) > 0 && !slices.Contains(d.choice.Only, t.Name) {
		cfg.Others = append(cfg.Others, t)
		return
	}
	cfg.Selected = append(cfg.Selected, t)
	if !d.older(t.Release, t.Oldest) {
		return
	}
	text := fmt.Sprintf("target %s needs DLPack %s or newer, not %s: it uses types that %s introduced", t.Name,
		t.Oldest, t.Release, t.Oldest)
	const hint = "target c supports every release: --only c"
	if at == nil || d.choice.Release != "" {
		d.diags.Add(diag.Diagnostic{Severity: diag.Error, Code: "release-too-old", Text: text, Hint: hint})
		return
	}
	at.Errorf("release-too-old", hint, "%s", text)
}

// older compares a release with the oldest release of a target by their numbers, because a user's
// spec may lack that oldest release.
func (d *decoder) older(version, oldest string) bool {
	r, err := d.spec.Release(version)
	var major, minor int
	if _, scanErr := fmt.Sscanf(oldest, "%d.%d", &major, &minor); err != nil || scanErr != nil {
		return false
	}
	return r.Major < major || r.Major == major && r.Minor < minor
}

// checkOnly reports the names of --only that select nothing.
func (d *decoder) checkOnly(cfg *Config) {
	all := slices.Concat(cfg.Selected, cfg.Others)
	known := d.table.Names()
	for _, t := range all {
		if !slices.Contains(known, t.Name) {
			known = append(known, t.Name)
		}
	}
	for _, name := range d.choice.Only {
		if slices.ContainsFunc(all, func(t Target) bool { return t.Name == name }) {
			continue
		}
		finding := diag.Diagnostic{Severity: diag.Error, Code: "unknown-target",
			Text: fmt.Sprintf("there is no target %q", name)}
		finding.Hint = cmp.Or(diag.DidYouMean(name, known), "the targets are "+strings.Join(known, ", "))
		row := slices.IndexFunc(d.table.Rows, func(t emit.Target) bool { return t.Name == name })
		switch {
		case row < 0:
		case d.file == "":
			finding.Text = fmt.Sprintf("target %q needs a config", name)
			finding.Hint = fmt.Sprintf("write a %s with `%s: {}` under targets; `dlpackgen init` writes the rest", File,
				name)
		default:
			finding.Text = fmt.Sprintf("%s has no target %q", d.file, name)
			finding.Hint = fmt.Sprintf("add `%s: {}` to its targets", name)
			if !d.table.Rows[row].OnRequest {
				finding.Hint += ", or ignore it with --no-config"
			}
		}
		d.diags.Add(finding)
	}
}
