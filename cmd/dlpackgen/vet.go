package main

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/tree"
	"github.com/dlpackgen/dlpackgen/internal/workspace"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func (a *app) vet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vet [FILE | DIR/... ...]",
		Short: "Check specs, configs and backends",
		Long: "Check specs (`spec: 1`), configs (`version: 1`) and backends (`backend: 1`), and report " +
			"all findings.\n" +
			"DIR/... stands for every " + config.File + " below a folder.\n" +
			"Without a FILE, check ./" + config.File + ", if it exists, and the built-in spec.",
		Example: "  dlpackgen vet\n  dlpackgen vet --format sarif dlpackgen.yaml my-spec.yaml > vet.sarif",
	}
	format := formats(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		files, findings := everyFile(args)
		unreadable := len(findings) > 0
		if len(args) == 0 || len(files) > 0 {
			found, failed := vetFiles(files)
			findings, unreadable = append(findings, found...), unreadable || failed
		}
		err := a.report(format, findings)
		if unreadable {
			return &failure{code: exitCannot}
		}
		return err
	}
	return cmd
}

// everyFile replaces each pattern with the configs that it matches. A file that several arguments
// match is listed once.
func everyFile(args []string) (files []string, findings []diag.Diagnostic) {
	var all diag.List
	for _, arg := range args {
		below, missing := []string{arg}, []diag.Diagnostic(nil)
		if workspace.IsPattern(arg) {
			below, missing = workspace.Find(config.File, []string{arg})
		}
		files = append(files, below...)
		all.Add(missing...)
	}
	seen := map[string]bool{}
	files = slices.DeleteFunc(files, func(file string) bool {
		again := seen[filepath.Clean(file)]
		seen[filepath.Clean(file)] = true
		return again
	})
	return files, all.Sorted()
}

// vetFiles checks files, or by default the config of this folder and the built-in spec. A file that
// cannot be read causes a finding, and the others are still checked.
func vetFiles(files []string) (findings []diag.Diagnostic, unreadable bool) {
	var all diag.List
	byDefault := len(files) == 0
	if byDefault {
		_, list := spec.Load(source.File, source.YAML)
		all.Add(list.Sorted()...)
		files = []string{config.File}
	}
	for _, file := range files {
		src, err := readInput(file)
		var missing *missingInput
		var failed *failure
		switch {
		case byDefault && errors.As(err, &missing):
		case errors.As(err, &failed):
			unreadable = true
			all.Add(failed.findings...)
		default:
			all.Add(vetSource(file, src)...)
		}
	}
	return all.Sorted(), unreadable
}

// vetSource checks a spec or a config. Its keys determine which of them it is.
func vetSource(file string, src []byte) []diag.Diagnostic {
	var findings diag.List
	root := yaml.Parse(file, src, &findings)
	if root == nil {
		return findings.Sorted()
	}
	has := func(key string) bool {
		return slices.ContainsFunc(root.Entries, func(e yaml.Entry) bool { return e.Key.Value == key })
	}
	switch {
	case has("spec"):
		_, list := spec.Load(file, src)
		return list.Sorted()
	case has("version"):
		sp, list := spec.LoadEmbedded()
		if sp == nil {
			return list.Sorted()
		}
		cfg, list := config.Decode(file, src, sp, targets.Table(), config.Choice{})
		if cfg != nil {
			j := &job{spec: sp, config: cfg, dir: filepath.Dir(file), lock: config.LockName(file)}
			j.out = filepath.Join(j.dir, filepath.FromSlash(cfg.Out))
			list.Add(j.vetTemplates()...)
			if !list.Failed() {
				list.Add(j.vetPlan()...)
			}
		}
		return list.Sorted()
	case has("backend"):
		var list diag.List
		backend.Decode(file, src, &list)
		return list.Sorted()
	}
	root.Errorf("unknown-kind", cmp.Or(nearKind(root), "begin the file with one of them"),
		"neither a spec (`spec: 1`) nor a config (`version: %d`) nor a backend (`backend: %d`)", config.Version,
		backend.Version)
	return findings.Sorted()
}

// vetTemplates executes the templates of a config, and discards the result. A mistake in a folder
// that several targets share is reported once.
func (j *job) vetTemplates() (findings []diag.Diagnostic) {
	seen := map[diag.Diagnostic]bool{}
	for _, t := range j.config.Selected {
		if t.Templates == "" {
			continue
		}
		m, err := j.model(t, "", map[string]*spec.Release{})
		if err == nil {
			err = render(&tree.Target{}, t, m)
		}
		var failed *failure
		if !errors.As(err, &failed) {
			continue
		}
		for _, d := range failed.findings {
			if !seen[d] {
				findings = append(findings, d)
			}
			seen[d] = true
		}
	}
	return findings
}

// vetPlan reports conflicts of the files that a config plans. Nothing is rendered.
func (j *job) vetPlan() []diag.Diagnostic {
	models, err := j.models("")
	if err != nil {
		return nil // of a backend or a kernel, which generate reports
	}
	req := j.request()
	for i, m := range models {
		names, _ := planned(j.config.Selected[i], m)
		req.Targets[i].Release, req.Targets[i].SpecSHA256 = m.Release.Version, m.Release.SpecSHA256
		for _, name := range names {
			req.Targets[i].Files = append(req.Targets[i].Files, emit.File{Path: name})
		}
	}
	if _, err = tree.Plan(req); err != nil {
		err = treeFailure(err)
	} else {
		err = j.checkTemplateFolders(req.Targets)
	}
	var failed *failure
	if errors.As(err, &failed) {
		return failed.findings
	}
	return nil
}

// nearKind returns a hint if one of the keys is probably a misspelled key of the kind.
func nearKind(root *yaml.Node) string {
	for _, e := range root.Entries {
		if hint := diag.DidYouMean(e.Key.Value, []string{"spec", "version", "backend"}); hint != "" {
			return hint
		}
	}
	return ""
}
