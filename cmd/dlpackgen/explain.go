package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/codes"
)

func (a *app) explain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE ...]",
		Short: "Explain the code of a finding or of a change",
		Long: "Explain a code (the word in brackets at the end of a finding) or a rule of compat: what it means,\n" +
			"why it is reported, and how to fix it, with an example. Without a CODE, list all codes.",
		Example:           "  dlpackgen explain unknown-key\n  dlpackgen explain --format json > codes.json",
		ValidArgsFunction: completeCodes,
	}
	format := choiceFlag(cmd, "format", "text or json, both on stdout", "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		entries, err := explained(args)
		switch {
		case err != nil:
			return err
		case format.value == "json":
			a.stdout.Write(codes.JSON(entries))
			return nil
		case len(args) == 0:
			return a.table(func(w io.Writer) { listCodes(w, entries) })
		}
		for i, e := range entries {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			fmt.Fprint(a.stdout, codes.Text(e))
		}
		return nil
	}
	return cmd
}

// explained returns the entries of the given codes, or all entries.
func explained(args []string) ([]codes.Entry, error) {
	if len(args) == 0 {
		return codes.All(), nil
	}
	var out []codes.Entry
	for _, code := range args {
		// Findings print the code in brackets.
		e, hint, ok := codes.Find(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(code, "["), "]")))
		if !ok {
			return nil, cannot("usage", cmp.Or(hint, "`dlpackgen explain` lists all codes"), "there is no code %q",
				code)
		}
		out = append(out, e)
	}
	return out, nil
}

func listCodes(w io.Writer, entries []codes.Entry) {
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\n", e.Code, e.Summary)
	}
}

func completeCodes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, e := range codes.All() {
		out = append(out, e.Code)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
