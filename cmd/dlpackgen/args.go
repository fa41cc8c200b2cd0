package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// noArgs rejects arguments, and names the first one, which is probably a flag without its dashes.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cannot("usage", cmd.CommandPath()+" --help", "%s takes no argument %q", cmd.Name(), args[0])
	}
	return nil
}

// oneOf accepts exactly one argument, which must be one of a set of words.
func oneOf(what string, words []string) cobra.PositionalArgs {
	all := diag.OneOf(words)
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return cannot("usage", all, "%s takes one %s, not %d", cmd.Name(), what, len(args))
		case !slices.Contains(words, args[0]):
			return cannot("usage", diag.DidYouMean(args[0], words), "the %s must be %s, not %q", what, all,
				args[0])
		}
		return nil
	}
}
