package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// release resolves the text of a key `dlpack:`, not its number, because 1.10 would be 1.1. It
// returns "" if the release does not exist.
func (d *decoder) release(n *yaml.Node) string {
	requested := n.Source("dlpack")
	if n.Kind != yaml.Scalar {
		return d.chosenRelease(latest)
	}
	found, err := d.spec.Release(requested)
	if err != nil {
		n.Errorf("unknown-release", Known(d.spec), "there is no DLPack release %q", requested)
		return d.chosenRelease(latest)
	}
	return d.chosenRelease(found.Version)
}

// chosenRelease returns the release of the command line if it selects one, in the spelling of the
// spec, and otherwise the release of the config.
func (d *decoder) chosenRelease(requested string) string {
	if d.choice.Release != "" {
		requested = d.choice.Release
	}
	found, err := d.spec.Release(requested)
	if err != nil {
		d.noRelease(requested)
		return ""
	}
	return found.Version
}

// noRelease reports an unknown release of the command line once, for all targets.
func (d *decoder) noRelease(requested string) {
	finding := diag.Diagnostic{
		Severity: diag.Error, Code: "unknown-release",
		Text: fmt.Sprintf("there is no DLPack release %q", requested), Hint: Known(d.spec),
	}
	if !slices.Contains(d.diags.Sorted(), finding) {
		d.diags.Add(finding)
	}
}

// Known returns a hint that lists the releases of a spec.
func Known(sp *spec.Spec) string {
	var names []string
	for _, r := range sp.Releases() {
		names = append(names, r.Version)
	}
	return fmt.Sprintf("there are %s, and %s", strings.Join(names, ", "), latest)
}

// isPath reports whether localPath reads a node's value without a finding.
func isPath(n *yaml.Node) bool {
	problem, _ := relpath.Problem(n.Value)
	return n.Kind == yaml.Scalar && problem == ""
}

// localPath reads a relative path without "..". The hint is for other paths.
func localPath(n *yaml.Node, what, hint string) string {
	p := n.Text(what)
	if n.Kind != yaml.Scalar {
		return "."
	}
	problem, better := relpath.Problem(p)
	if problem == "" {
		return path.Clean(p)
	}
	n.Errorf("invalid-path", cmp.Or(better, hint), "%s %s %s", what, relpath.Show(p), problem)
	return "."
}
