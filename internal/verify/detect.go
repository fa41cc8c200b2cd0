package verify

import (
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// best compares with every release and selects the one with the fewest errors, then warnings. Of
// several, it selects the oldest, because all later ones contain it.
func best(f *found, releases []*spec.Release) *Result {
	p := &positions{compiler: f.compiler, lines: map[string][]string{}}
	r := &Result{}
	var errors, warnings int
	for i, release := range releases {
		diags := compare(f, release, p)
		e, w := count(diags, diag.Error), count(diags, diag.Warning)
		if e == 0 {
			r.Fits = append(r.Fits, release.Version)
		}
		if i == 0 || e < errors || e == errors && w < warnings {
			r.Release, r.Diags, errors, warnings = release.Version, diags, e, w
		}
	}
	return r
}

func count(diags []diag.Diagnostic, severity diag.Severity) int {
	n := 0
	for _, d := range diags {
		if d.Severity == severity {
			n++
		}
	}
	return n
}
