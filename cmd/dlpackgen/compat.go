package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/jsontext"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// compatVersion is the version of the JSON that compat prints.
const compatVersion = 1

// compatReport has the form of docs/schema/compat.json.
type compatReport struct {
	Version  int             `json:"version"`
	Old      string          `json:"old"`
	New      string          `json:"new"`
	Breaking bool            `json:"breaking"`
	Changes  []compat.Change `json:"changes"`
}

func (a *app) compat() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compat OLD NEW",
		Short: "Report what breaks between two releases",
		Long: "Compare two releases of DLPack, declaration by declaration and under every data model.\n" +
			"Each difference belongs to a rule, and is breaking (compiled programs fail), source-breaking\n" +
			"(source code no longer compiles, or changes its meaning) or additive.\n\n" +
			"OLD and NEW are releases, such as 1.3, main or latest. An argument with a slash or .yaml\n" +
			"is the file of a spec, whose newest release is used.",
		Example: "  dlpackgen compat 0.8 1.0\n" +
			"  dlpackgen compat latest ./my-spec.yaml --format json",
		Args:              twoReleases,
		ValidArgsFunction: completeReleases,
	}
	format := choiceFlag(cmd, "format", "text or json, both on stdout", "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		old, oldName, err := a.releaseArgument(args[0])
		if err != nil {
			return err
		}
		now, newName, err := a.releaseArgument(args[1])
		if err != nil {
			return err
		}
		report := compatReport{Version: compatVersion, Old: oldName, New: newName, Changes: compat.Compare(old, now)}
		report.Breaking = compat.Breaks(report.Changes)
		return a.showCompat(report, format.value)
	}
	return cmd
}

func twoReleases(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return cannot("usage", "dlpackgen compat OLD NEW", "compat takes two releases or specs, not %d", len(args))
	}
	return nil
}

func completeReleases(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return versions(), cobra.ShellCompDirectiveDefault
}

// releaseArgument resolves a release of the embedded spec, or the newest release of a file, and
// returns its name in the report.
func (a *app) releaseArgument(arg string) (*spec.Release, string, error) {
	if !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(arg, ".yaml") {
		sp, err := builtIn()
		if err != nil {
			return nil, "", err
		}
		release, err := releaseFlag(sp, arg)
		if err != nil {
			return nil, "", err
		}
		return release, release.Version, nil
	}
	sp, warnings, err := loadSpec(arg)
	if err != nil {
		return nil, "", err
	}
	a.printText(warnings)
	release, err := releaseFlag(sp, newest(sp))
	return release, arg, err
}

// newest returns the last published release, or the unreleased one if the spec has no other.
func newest(sp *spec.Spec) string {
	if latest := sp.Latest(); latest != "" {
		return latest
	}
	return sp.Releases()[len(sp.Releases())-1].Version
}

// showCompat prints a report. The run ends with 1 if a change breaks anything.
func (a *app) showCompat(report compatReport, format string) error {
	if format == "json" {
		if report.Changes == nil {
			report.Changes = []compat.Change{}
		}
		a.stdout.Write(jsontext.Of(report))
	} else {
		a.printChanges(report)
	}
	if report.Breaking {
		return &failure{code: exitFindings}
	}
	return nil
}

// printChanges writes a line for each change, which begins with the kind and the rule.
func (a *app) printChanges(report compatReport) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, c := range report.Changes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", c.Kind, c.Rule, c.Name, c.Text, values(c))
	}
	w.Flush()
	if len(report.Changes) == 0 {
		fmt.Fprintf(a.stdout, "%s and %s do not differ for their users\n", report.Old, report.New)
	}
}

// values formats the old and the new value of a change, or the one value of an addition or a
// removal.
func values(c compat.Change) string {
	switch {
	case c.Old != "" && c.New != "":
		return fmt.Sprintf(": %s -> %s", c.Old, c.New)
	case c.Old != "" || c.New != "":
		return ": " + c.Old + c.New
	}
	return ""
}
