package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbText is the help of a verb as data. tools/release renders it as man pages, with libraries
// that the module itself does not import, and tools/site as the page of commands.
type verbText struct {
	Use, Short, Long, Example string
	Flags                     []flagText
	Verbs                     []verbText
}

type flagText struct{ Name, Shorthand, Type, Default, Usage string }

// verbTextOf returns a verb and its subcommands, except those that help texts omit.
func verbTextOf(cmd *cobra.Command) verbText {
	d := verbText{Use: cmd.Use, Short: cmd.Short, Long: cmd.Long + exitStatus(), Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			d.Flags = append(d.Flags, flagText{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage})
		}
	})
	verbs := slices.DeleteFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Hidden || c.Name() == "help" })
	for _, c := range verbs {
		d.Verbs = append(d.Verbs, verbTextOf(c))
	}
	return d
}

// printDescription writes a verb and its subcommands.
func (a *app) printDescription(root *cobra.Command) error {
	return json.NewEncoder(a.stdout).Encode(verbTextOf(root))
}
