package main

import (
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/tree"
)

func (a *app) check() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Tell whether the generated files are up to date",
		Long: "Compare what generate would make with what stands on the disk, and name every file that\n" +
			"is outdated, missing, obsolete, modified or orphaned. Nothing is written.",
		Example: "  dlpackgen check\n" +
			"  dlpackgen check --diff\n" +
			"  dlpackgen check --format github",
		Args: noArgs,
	}
	s := selectionFlags(cmd)
	format := formats(cmd)
	showDiff := cmd.Flags().Bool("diff", false, "print a unified diff of every file on stdout; only with text")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *showDiff && format.value != "text" {
			return cannot("usage", "leave one of them out", "--diff prints text, so it does not go with --format %s",
				format.value)
		}
		j, report, err := s.compare()
		if err != nil {
			return a.reported(format, err)
		}
		if *showDiff {
			a.printDiff(j, report)
		}
		return a.report(format, append(j.notes, findings(j, report)...))
	}
	return cmd
}

// compare runs tree.Check on the selection.
func (s *selection) compare() (*job, *tree.Report, error) {
	j, err := s.load()
	if err != nil {
		return nil, nil, err
	}
	if s.out == "-" {
		return nil, nil, cannot("usage", "dlpackgen generate --only c --out -",
			"--out - prints, which only generate does")
	}
	req, err := j.rendered()
	if err != nil {
		return nil, nil, err
	}
	report, err := tree.Check(req)
	if err != nil {
		return nil, nil, treeFailure(err)
	}
	return j, report, nil
}

// printDiff shows what generate would change, from the disk to the plan.
func (a *app) printDiff(j *job, report *tree.Report) {
	for _, it := range report.Items {
		if it.Action == tree.Keep && it.State != tree.Modified {
			continue
		}
		a.stdout.Write(diff.Diff("a/"+j.name(it.Path), it.Old, "b/"+j.name(it.Path), it.New))
	}
}
