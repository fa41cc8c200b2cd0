package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandText is the help of a command as data. tools/release renders it as man pages, with
// libraries that the module itself does not import, and tools/site as the page of commands.
type commandText struct {
	Use, Short, Long, Example string
	Flags                     []flagText
	Commands                  []commandText
}

type flagText struct{ Name, Shorthand, Type, Default, Usage string }

// commandTextOf returns a command and its subcommands, except those that help texts omit.
func commandTextOf(cmd *cobra.Command) commandText {
	d := commandText{Use: cmd.Use, Short: cmd.Short, Long: cmd.Long + exitStatus(), Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			d.Flags = append(d.Flags, flagText{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage})
		}
	})
	commands := slices.DeleteFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Hidden || c.Name() == "help" })
	for _, c := range commands {
		d.Commands = append(d.Commands, commandTextOf(c))
	}
	return d
}

// printDescription writes a command and its subcommands.
func (a *app) printDescription(root *cobra.Command) error {
	return json.NewEncoder(a.stdout).Encode(commandTextOf(root))
}
