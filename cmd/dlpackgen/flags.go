package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/codes"
	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// choice is a flag whose value is one of a few words.
type choice struct {
	value   string
	allowed []string
}

// String returns the current value.
func (c *choice) String() string { return c.value }

// Type returns the name of the value in help texts.
func (c *choice) Type() string { return "WORD" }

// Set accepts one of the allowed words; flagError lists them.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.allowed, word) {
		return fmt.Errorf("no such word")
	}
	c.value = word
	return nil
}

// choiceFlag adds a flag whose default is the first of the allowed words.
func choiceFlag(cmd *cobra.Command, name, usage string, allowed ...string) *choice {
	c := &choice{value: allowed[0], allowed: allowed}
	cmd.Flags().Var(c, name, usage)
	complete(cmd, name, func() []string { return allowed })
	return c
}

// complete registers the words that the shell completes for a flag. They are computed on demand,
// because reading the spec takes longer than the rest of most runs.
func complete(cmd *cobra.Command, flag string, words func() []string) {
	completeBy(cmd, flag, func(string) []string { return words() })
}

// completeList registers the words for a flag that accepts a comma-separated list. The shell
// replaces the whole argument, so each completion begins with the words typed so far.
func completeList(cmd *cobra.Command, flag string, words func() []string) {
	completeBy(cmd, flag, func(typed string) (out []string) {
		chosen := typed[:strings.LastIndex(typed, ",")+1]
		for _, word := range words() {
			if !slices.Contains(strings.Split(chosen, ","), word) {
				out = append(out, chosen+word)
			}
		}
		return out
	})
}

func completeBy(cmd *cobra.Command, flag string, offer func(typed string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return offer(typed), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic("unreachable: the flag was just added: " + err.Error())
	}
}

// notEmpty rejects flags with an empty value, for example from an unset variable of a script. An
// empty value must not have the meaning of an omitted flag.
func notEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		if f.Changed && strings.Trim(f.Value.String(), "[]") == "" {
			return cannot("usage", "omit the flag", "--%s is empty", name)
		}
	}
	return nil
}

// formats adds --format for findings.
func formats(cmd *cobra.Command) *choice {
	return choiceFlag(cmd, "format", "how to report findings: text (on stderr), json, github or sarif (on stdout)",
		"text", "json", "github", "sarif")
}

// aboutCode returns the texts of `explain` for a code, for SARIF.
func aboutCode(code string) diag.Rule {
	e, _, ok := codes.Find(code)
	if !ok {
		return diag.Rule{}
	}
	return diag.Rule{Short: e.Summary, Full: strings.TrimSpace(e.Summary + "\n\n" + e.Why), Help: "Fix: " + e.Fix}
}

// report prints findings in a format. The run ends with 1 if one of them is an error.
func (a *app) report(format *choice, findings []diag.Diagnostic) error {
	switch format.value {
	case "json":
		a.stdout.Write(diag.JSON(findings))
	case "github":
		fmt.Fprint(a.stdout, diag.GitHub(findings))
	case "sarif":
		a.stdout.Write(diag.SARIF(findings, self().Version, aboutCode))
	default:
		a.printText(findings)
	}
	if slices.ContainsFunc(findings, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }) {
		return &failure{code: exitFindings}
	}
	return nil
}

// reported prints the findings of a run that was not possible in the requested format, so that
// consumers need to parse only one format.
func (a *app) reported(format *choice, err error) error {
	var f *failure
	if !errors.As(err, &f) || format.value == "text" || len(f.findings) == 0 {
		return err
	}
	a.report(format, f.findings)
	return &failure{code: f.code}
}
