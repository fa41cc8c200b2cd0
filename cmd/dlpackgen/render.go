package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/tree"
	"github.com/dlpackgen/dlpackgen/internal/workspace"
)

// request describes the targets and paths of a run, without rendered files.
func (j *job) request() tree.Request {
	req := tree.Request{Out: j.out, Lock: j.lock, Only: j.only, Tool: self(), Inputs: j.inputs}
	for _, t := range j.config.Selected {
		req.Targets = append(req.Targets, tree.Target{Name: t.Name, Path: t.Path})
	}
	for _, t := range j.config.Others {
		req.Others = append(req.Others, tree.Owned{Name: t.Name, Path: t.Path})
	}
	return req
}

// rendered returns the request with all files rendered.
func (j *job) rendered() (tree.Request, error) {
	req := j.request()
	var err error
	req.Targets, err = j.render(j.out)
	req.Inputs = slices.Concat(j.inputs, j.read)
	if err == nil {
		err = j.checkTemplateFolders(req.Targets)
	}
	return req, err
}

// render renders every file of the selected targets, in memory. dir is the output directory, or ""
// if there is none.
func (j *job) render(dir string) ([]tree.Target, error) {
	models, err := j.models(dir)
	if err != nil {
		return nil, err
	}
	out, errs := make([]tree.Target, len(models)), make([]error, len(models))
	var size atomic.Int64
	groups := apart(models)
	workspace.Each(len(groups), func(g int) { // they share nothing but the releases, which do not change
		for _, i := range groups[g] {
			errs[i] = guard(func() error { return render(&out[i], j.config.Selected[i], models[i]) })
			models[i] = nil
			for _, f := range out[i].Files {
				size.Add(int64(len(f.Data)))
			}
		}
	}, func(int) { expectFiles(size.Load()) })
	for _, err := range errs { // the first target's, whichever ends first
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// apart returns groups of targets that can be rendered concurrently. The users' own targets are one
// group, because they share limits, and the first one that exceeds them is reported.
func apart(models []*emit.Model) (groups [][]int) {
	var own []int
	for i, m := range models {
		if m.Templates != nil {
			own = append(own, i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	if own != nil {
		groups = append(groups, own)
	}
	return groups
}

// models returns the model of each selected target. Each release is resolved once.
func (j *job) models(dir string) ([]*emit.Model, error) {
	releases := map[string]*spec.Release{}
	var out []*emit.Model
	for _, t := range j.config.Selected {
		m, err := j.model(t, dir, releases)
		if err == nil && t.Collects {
			m.Library, err = j.library(t, dir, releases)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// release returns the release of a target. All targets but backends share it.
func (j *job) release(t config.Target, releases map[string]*spec.Release) (*spec.Release, error) {
	if known := releases[t.Release]; known != nil && t.Backend == nil {
		return known, nil
	}
	release, err := j.spec.Release(t.Release)
	if err != nil {
		return nil, err
	}
	release = j.config.ReleaseOf(t, release)
	if t.Backend == nil {
		releases[t.Release] = release
	}
	return release, nil
}

func (j *job) model(t config.Target, dir string, releases map[string]*spec.Release) (*emit.Model, error) {
	release, err := j.release(t, releases)
	if err != nil {
		return nil, err
	}
	m := &emit.Model{Release: release, Options: t.Options, Contracts: j.config.Contracts,
		Prefix: j.config.Prefix}
	if m.Templates, err = j.templates(t); err != nil {
		return nil, err
	}
	if m.Import, err = j.importPath(t, dir); err != nil {
		return nil, err
	}
	return m, j.imports(m, t, dir)
}

// imports finds the Go packages of other targets that a target's packages import.
func (j *job) imports(m *emit.Model, t config.Target, dir string) error {
	m.Imports = map[string]string{}
	for _, other := range slices.Concat(j.config.Selected, j.config.Others) {
		if !slices.Contains(t.Imports, other.Name) {
			continue
		}
		path, err := j.importPath(other, dir)
		if err != nil {
			return err
		}
		m.Imports[other.Name] = cmp.Or(other.Options[emit.OptionImport], path)
	}
	return nil
}

// render renders the files of one target.
func render(out *tree.Target, t config.Target, m *emit.Model) error {
	files, err := t.Emit(m)
	if err != nil {
		return cannotEmit(t.Name, err)
	}
	*out = tree.Target{Name: t.Name, Release: m.Release.Version, SpecSHA256: m.Release.SpecSHA256, Path: t.Path,
		Files: files}
	return nil
}

// derivesImport reports whether the import path of a target comes from a go.mod.
func derivesImport(t config.Target) bool {
	return t.Has(emit.OptionImport) && t.Options[emit.OptionImport] == ""
}

// importPath returns the import path of a target's folder, derived from the nearest go.mod, if the
// target has one and the config does not set it.
func (j *job) importPath(t config.Target, out string) (string, error) {
	if out == "" || !derivesImport(t) {
		return "", nil
	}
	dir, err := tree.Real(filepath.Join(out, filepath.FromSlash(t.Path)))
	if err != nil {
		return "", cannot("io", "", "%v", err)
	}
	path, mod, err := j.mods.ImportPath(dir)
	if err != nil {
		return "", cannotEmit(t.Name,
			fmt.Errorf("%w; set the import path of the bindings with option %q", err, emit.OptionImport))
	}
	if mod != "" && !slices.Contains(j.read, mod) {
		j.read = append(j.read, mod)
	}
	return path, nil
}

// cannotEmit reports each of the reasons, which a target joins into one error.
func cannotEmit(target string, err error) error {
	var rejected *emit.Invalid
	if errors.As(err, &rejected) {
		return &failure{code: exitCannot, findings: rejected.Findings}
	}
	var findings diag.List
	for reason := range strings.Lines(err.Error()) {
		findings.Errorf(diag.Pos{}, "emit", "target %s: %s", target, strings.TrimSpace(reason))
	}
	return invalid(&findings)
}
