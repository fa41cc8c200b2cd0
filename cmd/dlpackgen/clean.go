package main

import (
	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/tree"
)

func (a *app) clean() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove generated files",
		Long: "Remove the generated files that are unmodified, according to the lock, and folders that\n" +
			"become empty. Files that were edited by hand are kept and reported.",
		Example: "  dlpackgen clean\n" +
			"  dlpackgen clean --only go --dry-run",
		Args: noArgs,
	}
	s := selectionFlags(cmd)
	dryRun := cmd.Flags().Bool("dry-run", false, "report what would be removed, but remove nothing")
	quiet := quietFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		j, err := s.load()
		if err != nil {
			return err
		}
		if s.out == "-" {
			return cannot("usage", "--out DIR", "--out - prints, so there is nothing to remove")
		}
		req := j.request()
		req.Stop = a.stop
		report, err := a.change(*dryRun, func() (*tree.Report, error) { return tree.Clean(req, *dryRun) })
		if err != nil {
			return treeFailure(err)
		}
		a.show(*dryRun, *quiet, done(j, report, *dryRun))
		return nil
	}
	return cmd
}
