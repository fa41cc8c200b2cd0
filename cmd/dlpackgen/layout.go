package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/draw"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// layoutFlags are the flags of layout.
type layoutFlags struct {
	version string
	model   *choice
	format  *choice
	svg     string
}

func (a *app) layout() *cobra.Command {
	var f layoutFlags
	cmd := &cobra.Command{
		Use:   "layout [TYPE ...]",
		Short: "Show offsets, sizes and holes of structs",
		Long: "Show offsets, sizes and holes of structs, and the width of enums, under each data model.\n" +
			"Without a TYPE, show all of them.",
		Example: "  dlpackgen layout DLTensor\n" +
			"  dlpackgen layout DLTensor --model all\n" +
			"  dlpackgen layout DLManagedTensorVersioned --svg layout.svg",
		ValidArgsFunction: completeTypes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(notEmpty(cmd, "svg"), f.check()); err != nil {
				return err
			}
			sp, err := builtIn()
			if err != nil {
				return err
			}
			release, err := releaseFlag(sp, f.version)
			if err != nil {
				return err
			}
			return a.showLayout(&f, release, args)
		},
	}
	dlpackFlag(cmd, &f.version)
	var models []string
	for _, m := range layout.Models() {
		models = append(models, m.Name)
	}
	f.model = choiceFlag(cmd, "model", "data model: "+strings.Join(models, ", ")+", or all side by side",
		append(models, "all")...)
	f.format = choiceFlag(cmd, "format", "text or json", "text", "json")
	cmd.Flags().StringVar(&f.svg, "svg", "", "write a drawing to scale to `FILE`; - is stdout")
	return cmd
}

// check rejects a format that has no effect on a drawing.
func (f *layoutFlags) check() error {
	if f.svg != "" && f.format.value != "text" {
		return cannot("usage", "omit one of them", "--svg draws, so it cannot be used with --format %s",
			f.format.value)
	}
	return nil
}

// completeTypes returns the types of the newest release for shell completion.
func completeTypes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	sp, err := builtIn()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	release, err := sp.Release("latest")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return laidOut(release), cobra.ShellCompDirectiveNoFileComp
}

// laidOut returns the names of the types that have a layout in a release.
func laidOut(r *spec.Release) []string {
	var out []string
	for _, d := range r.Decls {
		switch d.(type) {
		case *spec.Struct, *spec.Enum:
			out = append(out, d.DeclName())
		}
	}
	return out
}

// showLayout prints the table, or draws it.
func (a *app) showLayout(f *layoutFlags, r *spec.Release, names []string) error {
	if err := checkTypes(r, names); err != nil {
		return err
	}
	tables := layouts(r, f.model.value)
	switch {
	case f.svg == "-":
		a.stdout.Write(draw.SVG(tables, names))
	case f.svg != "":
		if err := writeFile(f.svg, draw.SVG(tables, names)); err != nil {
			return err
		}
		a.say("drew %s", f.svg)
	case f.format.value == "json":
		a.stdout.Write(draw.JSON(tables, names))
	default:
		fmt.Fprint(a.stdout, draw.Text(tables, names))
	}
	return nil
}

// checkTypes reports every argument that is not the name of a struct or an enum.
func checkTypes(r *spec.Release, names []string) error {
	known := laidOut(r)
	var unknown diag.List
	for _, name := range names {
		if !slices.Contains(known, name) {
			unknown.Add(diag.Diagnostic{
				Severity: diag.Error, Code: "unknown-type",
				Hint: cmp.Or(diag.DidYouMean(name, known), "`dlpackgen list types` lists them"),
				Text: fmt.Sprintf("DLPack %s has no struct or enum %q", r.Version, name),
			})
		}
	}
	return invalid(&unknown)
}

// layouts computes the layouts of a release under the data models of --model.
func layouts(r *spec.Release, model string) []*layout.Table {
	var out []*layout.Table
	for _, m := range layout.Models() {
		if model == m.Name || model == "all" {
			out = append(out, layout.Of(r, m, layout.C))
		}
	}
	return out
}
