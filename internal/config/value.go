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

// release resolves a `dlpack:` by the text that the file holds: read as a
// number, 1.10 would be 1.1. It gives "" for what does not exist.
func (d *decoder) release(n *yaml.Node) string {
	asked := n.Source("dlpack")
	if n.Kind != yaml.Scalar {
		return d.chosenRelease(latest)
	}
	found, err := d.spec.Release(asked)
	if err != nil {
		n.Errorf("unknown-release", Known(d.spec), "there is no DLPack %q", asked)
		return d.chosenRelease(latest)
	}
	return d.chosenRelease(found.Version)
}

// chosenRelease returns the release of the command line, if it names one, in the
// spelling of the spec; else the one that was asked for.
func (d *decoder) chosenRelease(asked string) string {
	if d.choice.Release != "" {
		asked = d.choice.Release
	}
	found, err := d.spec.Release(asked)
	if err != nil {
		d.noRelease(asked)
		return ""
	}
	return found.Version
}

// noRelease reports a release of the command line once, however many targets
// would have used it.
func (d *decoder) noRelease(asked string) {
	finding := diag.Diagnostic{
		Severity: diag.Error, Code: "unknown-release",
		Text: fmt.Sprintf("there is no DLPack %q", asked), Hint: Known(d.spec),
	}
	if !slices.Contains(d.diags.Sorted(), finding) {
		d.diags.Add(finding)
	}
}

// Known is a hint that lists the releases of a spec.
func Known(sp *spec.Spec) string {
	var names []string
	for _, r := range sp.Releases() {
		names = append(names, r.Version)
	}
	return fmt.Sprintf("there are %s, and %s", strings.Join(names, ", "), latest)
}

// isPath tells a node whose value localPath reads without a finding.
func isPath(n *yaml.Node) bool {
	problem, _ := relpath.Problem(n.Value)
	return n.Kind == yaml.Scalar && problem == ""
}

// localPath reads a path below where it starts. The hint is for a path that leads elsewhere.
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
