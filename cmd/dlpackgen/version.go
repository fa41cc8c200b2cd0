package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/tool"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// self identifies this build. A lock of a newer version is rejected, so that two people with
// different versions do not rewrite each other's files. Tests replace this variable.
var self = func() tree.Tool { return tree.Tool{Version: tool.Version(), Digest: tool.Digest()} }

// printVersion prints the version and digest of this build, as in the first line of a lock.
func (a *app) printVersion() {
	fmt.Fprintln(a.stdout, "dlpackgen", self().Version, self().Digest)
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the tool",
		Long: "Print the version of the tool's module, or devel for a build from a checkout, and a digest\n" +
			"of everything that determines the content of generated files. Locks record both.",
		Example: "  dlpackgen version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			a.printVersion()
			return nil
		},
	}
}
