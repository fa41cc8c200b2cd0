package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// toolVersion is raised whenever the output of generate changes: a lock by a
// newer tool is refused, so that two people with different tools do not rewrite
// each other's files. Build information cannot stand in for it, since it differs
// between `go run` and `go install` of the same source.
const toolVersion = "0.1.0"

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the tool",
		Long:    "Print the version of the tool. It changes whenever generated files do.",
		Example: "  dlpackgen version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.stdout, "dlpackgen", toolVersion)
			return nil
		},
	}
}
