package main

import (
	"cmp"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/tree"
)

func (a *app) check() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [DIR/... ...]",
		Short: "Check that generated files are up to date",
		Long: "Compare the planned files with those on disk, and report every file that is outdated,\n" +
			"missing, obsolete, modified or orphaned. Nothing is written.\n\n" +
			"./... stands for every dlpackgen.yaml below this folder. An invalid one does not stop the others.",
		Example: "  dlpackgen check\n" +
			"  dlpackgen check --diff\n" +
			"  dlpackgen check ./...\n" +
			"  dlpackgen check --format github",
		Args: patterns,
	}
	s := selectionFlags(cmd)
	format := formats(cmd)
	showDiff := cmd.Flags().Bool("diff", false, "print a unified diff of every file on stdout; only with --format text")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *showDiff && format.value != "text" {
			return cannot("usage", "omit one of them", "--diff prints text, so it cannot be used with --format %s",
				format.value)
		}
		c := comparison{selection: s, format: format, diff: *showDiff}
		if len(args) > 0 {
			return c.all(a, args)
		}
		return c.one(a)
	}
	return cmd
}

// comparison holds the flags of a run of check.
type comparison struct {
	*selection
	format *choice
	diff   bool
}

// one compares the files of the config in this folder, or of --config.
func (c comparison) one(a *app) error {
	j, err := c.load()
	if err == nil && c.out == "-" {
		err = cannot("usage", "dlpackgen generate --only c --out -", "--out - prints, which only generate does")
	}
	if err != nil {
		return a.reported(c.format, err)
	}
	o := c.compare(j)
	if o.err != nil {
		return a.reported(c.format, o.err)
	}
	a.stdout.Write(o.diff)
	return a.report(c.format, o.findings)
}

// all compares the files of every config below some folders, and prints one report.
func (c comparison) all(a *app, patterns []string) error {
	b, err := c.loadAll(patterns)
	if err != nil {
		return a.reported(c.format, err)
	}
	all := b.each(a, c.compare)
	findings := b.findings
	for _, o := range all {
		a.stdout.Write(o.diff)
		findings = append(findings, o.reported()...)
	}
	return cmp.Or(b.ended(all), a.report(c.format, findings))
}

// compare reports how the files of a config differ from the plan.
func (c comparison) compare(j *job) outcome {
	req, err := j.rendered()
	if err != nil {
		return outcome{err: err}
	}
	report, err := tree.Check(req)
	if err != nil {
		return outcome{err: treeFailure(err)}
	}
	o := outcome{findings: append(j.notes, findings(j, report)...)}
	if c.diff {
		o.diff = changes(j, report)
	}
	return o
}

// changes prints the diff from the files on disk to the plan.
func changes(j *job, report *tree.Report) []byte {
	var out []byte
	for _, it := range report.Items {
		if it.Action == tree.Keep && it.State != tree.Modified {
			continue
		}
		out = append(out, diff.Diff("a/"+j.name(it.Path), it.Old, "b/"+j.name(it.Path), it.New)...)
	}
	return out
}
