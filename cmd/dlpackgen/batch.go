package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/templated"
	"github.com/dlpackgen/dlpackgen/internal/gomod"
	"github.com/dlpackgen/dlpackgen/internal/outputs"
	"github.com/dlpackgen/dlpackgen/internal/tree"
	"github.com/dlpackgen/dlpackgen/internal/workspace"
)

// batch contains all configs below some folders. The spec is read once.
type batch struct {
	files    []string
	jobs     []*job
	errs     []error           // why a config cannot be worked on
	findings []diag.Diagnostic // of the search, and about the spec
}

// outcome is the result for one config.
type outcome struct {
	findings []diag.Diagnostic
	touched  []string // the action for each file, in words
	counts   map[tree.Action]int
	diff     []byte
	list     *outputs.List
	err      error
}

// patterns rejects arguments that are not patterns.
func patterns(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if !workspace.IsPattern(arg) {
			return cannot("usage", cmd.CommandPath()+" ./..., or --config FILE for one config",
				"%s takes patterns such as ./..., not %q", cmd.Name(), arg)
		}
	}
	return nil
}

// loadAll reads every config that the patterns match. The errors of a config become part of its
// outcome; a returned error concerns all configs.
func (s *selection) loadAll(patterns []string) (*batch, error) {
	for _, flag := range []string{"config", "no-config", "prefix", "only", "out", "depfile", "stamp"} {
		if f := s.cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return nil, cannot("usage", "use it in a run on a single config", "--%s cannot be used with %s", flag,
				patterns[0])
		}
	}
	if err := notEmpty(s.cmd, "spec", "dlpack"); err != nil {
		return nil, err
	}
	expectMany()
	var shared job
	if err := shared.loadSpec(s.spec); err != nil {
		return nil, err
	}
	files, findings := workspace.Find(config.File, patterns)
	b := &batch{files: files, findings: append(shared.notes, findings...), jobs: make([]*job, len(files)),
		errs: make([]error, len(files))}
	workspace.Each(len(files), func(i int) {
		one := *s
		one.config = files[i]
		b.jobs[i] = &job{spec: shared.spec, inputs: slices.Clone(shared.inputs)}
		b.errs[i] = guard(func() error { return one.loadConfig(b.jobs[i]) })
	}, func(int) {})
	return b, b.separate()
}

// separate rejects configs that generate the same files, or inputs of each other.
func (b *batch) separate() error {
	base, err := tree.Real(".")
	if err != nil {
		return cannot("io", "", "%v", err)
	}
	var projects []workspace.Project
	var of []int
	for i, j := range b.jobs {
		if b.errs[i] != nil {
			continue
		}
		p, err := j.project(b.files[i])
		if err != nil {
			b.errs[i] = cannot("io", "", "%v", err)
			continue
		}
		projects, of = append(projects, p), append(of, i)
	}
	for i, conflicts := range workspace.Conflicts(base, config.File, projects) {
		if len(conflicts) > 0 {
			b.errs[of[i]] = &failure{code: exitCannot, findings: conflicts}
		}
	}
	return nil
}

// project returns the folders that a config writes to, and its inputs.
func (j *job) project(file string) (workspace.Project, error) {
	var failed error
	real := func(name string) string {
		full, err := tree.Real(name)
		failed = cmp.Or(failed, err)
		return full
	}
	p := workspace.Project{Config: file, Out: real(j.out)}
	for _, name := range tree.Records(j.lock) {
		p.Records = append(p.Records, filepath.Join(p.Out, name))
	}
	for _, name := range j.inputs {
		p.Inputs = append(p.Inputs, real(name))
	}
	for _, t := range j.config.Selected {
		p.Roots = append(p.Roots, real(filepath.Join(p.Out, filepath.FromSlash(t.Path))))
		if t.Templates != "" {
			p.Templates = append(p.Templates, real(filepath.Join(j.dir, filepath.FromSlash(t.Templates))))
		}
	}
	p.Plan = func() (workspace.Plan, error) { return j.plan(p.Roots) }
	return p, failed
}

// plan lists the files of each selected target, below roots, and the go.mod files that it reads.
// Nothing is rendered.
func (j *job) plan(roots []string) (plan workspace.Plan, err error) {
	models, err := j.models(j.out)
	if err != nil {
		return plan, err
	}
	for i, m := range models {
		names, err := planned(j.config.Selected[i], m)
		if err != nil {
			return plan, err
		}
		for _, name := range names {
			plan.Files = append(plan.Files, filepath.Join(roots[i], filepath.FromSlash(name)))
		}
		if derivesImport(j.config.Selected[i]) {
			plan.Inputs = append(plan.Inputs, gomod.Candidates(roots[i])...)
		}
	}
	return plan, nil
}

// planned lists the files of a target. The files of users' templates are known without executing
// them.
func planned(t config.Target, m *emit.Model) (names []string, err error) {
	if m.Templates != nil {
		return templated.Outputs(m.Templates.Sources), nil
	}
	manifest, err := t.Manifest(m)
	for _, asset := range manifest.Assets {
		names = append(names, asset.To)
	}
	return names, err
}

// each processes all configs concurrently, and returns the outcomes in the order of the config
// files. A failure does not stop the other configs.
func (b *batch) each(a *app, do func(*job) outcome) []outcome {
	all := make([]outcome, len(b.files))
	line := a.progress("configs", len(b.files))
	a.mu.Lock()
	a.configs = len(b.files)
	a.mu.Unlock()
	workspace.Each(len(b.files), func(i int) {
		err := b.errs[i]
		if err == nil {
			err = guard(func() error { all[i] = do(b.jobs[i]); return all[i].err })
		}
		all[i].err = named(err, b.files[i])
		b.jobs[i] = nil // the rendered files need not be kept
	}, line.tick)
	line.done()
	return all
}

// named sets the config's name in the findings of a failure that have no file.
func named(err error, file string) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	findings := slices.Clone(f.findings)
	for i := range findings {
		if findings[i].Pos.File == "" {
			findings[i].Pos.File = file
		}
	}
	return &failure{code: f.code, findings: findings}
}

// ended returns the result of a run on many configs: that of the worst config.
func (b *batch) ended(all []outcome) error {
	code := exitFine
	if slices.ContainsFunc(b.findings, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }) {
		code = exitCannot
	}
	for _, o := range all {
		var f *failure
		if errors.As(o.err, &f) {
			code = max(code, f.code)
		}
	}
	if code == exitFine {
		return nil
	}
	return &failure{code: code}
}

// reported returns the findings of an outcome, those of its failure last.
func (o outcome) reported() []diag.Diagnostic {
	var f *failure
	if errors.As(o.err, &f) {
		return slices.Concat(o.findings, f.findings)
	}
	return o.findings
}

// total adds up the changes to the files of all configs.
func total(all []outcome) map[tree.Action]int {
	sum := map[tree.Action]int{}
	for _, o := range all {
		for act, count := range o.counts {
			sum[act] += count
		}
	}
	return sum
}

// summary describes counts in words.
func summary(counts map[tree.Action]int, would string) string {
	var parts []string
	for _, act := range []tree.Action{tree.Create, tree.Replace, tree.Delete} {
		if counts[act] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", counts[act], would, act))
		}
	}
	if counts[tree.Keep] > 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d kept", counts[tree.Keep]))
	}
	return strings.Join(parts, ", ")
}
