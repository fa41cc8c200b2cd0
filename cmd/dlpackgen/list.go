package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// lists gives what each word of `list` prints: one entry a line, its name first.
var lists = map[string]func(io.Writer, *spec.Spec, *spec.Release){
	"versions": listVersions,
	"targets":  listTargets,
	"types":    listTypes,
	"devices":  listDevices,
	"dtypes":   listDTypes,
}

func (a *app) list() *cobra.Command {
	var version, file, kernel string
	words := []string{"versions", "targets", "types", "devices", "dtypes", callers}
	cmd := &cobra.Command{
		Use:   "list versions|targets|types|devices|dtypes|callers|outputs",
		Short: "List versions, targets, types, devices, dtypes, callers or outputs",
		Long: "List one entry per line, its name first.\nTypes, devices and dtypes are those of one release, callers " +
			"those of a kernel of the config,\nand outputs the files of the config.",
		Example: "  dlpackgen list versions\n" +
			"  dlpackgen list devices --dlpack main\n" +
			"  dlpackgen list callers --kernel axpy",
		ValidArgs: words,
		Args:      oneOf("list", append(slices.Clip(words), "outputs")),
		RunE: func(cmd *cobra.Command, args []string) error {
			sp := spec.Embedded()
			release, err := releaseFlag(sp, version)
			if err != nil {
				return err
			}
			if args[0] != callers {
				return a.table(func(w io.Writer) { lists[args[0]](w, sp, release) })
			}
			kernels, err := described(cmd, file, kernel)
			if err != nil {
				return err
			}
			return a.table(func(w io.Writer) { listCallers(w, release, kernels, kernel) })
		},
	}
	cmd.AddCommand(a.listOutputs())
	dlpackFlag(cmd, &version)
	cmd.Flags().StringVar(&file, "config", config.File, "`FILE` that describes the kernels, for callers")
	cmd.Flags().StringVar(&kernel, "kernel", "", "`NAME` of the kernel, for callers")
	return cmd
}

// table prints the columns of lines.
func (a *app) table(fill func(io.Writer)) error {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fill(w)
	if err := w.Flush(); err != nil {
		return cannot("output", "", "%v", err)
	}
	for line := range bytes.Lines(table.Bytes()) {
		fmt.Fprintf(a.stdout, "%s\n", bytes.TrimRight(line, " \n"))
	}
	return nil
}

// dlpackFlag adds --dlpack to a verb that looks at one release.
func dlpackFlag(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "dlpack", "latest", "`VERSION` of DLPack, such as 1.3, main or latest")
	complete(cmd, "dlpack", versions)
}

// releaseFlag resolves the value of --dlpack.
func releaseFlag(sp *spec.Spec, version string) (*spec.Release, error) {
	release, err := sp.Release(version)
	if err != nil {
		return nil, cannot("unknown-release", config.Known(sp), "there is no DLPack %q", version)
	}
	return release, nil
}

func listVersions(w io.Writer, sp *spec.Spec, _ *spec.Release) {
	for _, r := range sp.Releases() {
		note := ""
		if r.Unreleased {
			note = "\tunreleased"
		}
		fmt.Fprintf(w, "%s\t%s%s\n", r.Version, r.Date, note)
	}
}

func listTargets(w io.Writer, _ *spec.Spec, _ *spec.Release) {
	for _, t := range targets.All() {
		fmt.Fprintf(w, "%s\tDLPack %s and newer\t%s\n", t.Name, t.Oldest, t.About())
	}
}

func listTypes(w io.Writer, _ *spec.Spec, r *spec.Release) {
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Enum:
			fmt.Fprintf(w, "%s\tenum\t%s\n", d.Name, d.Doc)
		case *spec.Struct:
			fmt.Fprintf(w, "%s\tstruct\t%s\n", d.Name, d.Doc)
		case *spec.Alias:
			fmt.Fprintf(w, "%s\talias of %s\t%s\n", d.Name, d.Target, d.Doc)
		case *spec.Callback:
			fmt.Fprintf(w, "%s\tcallback\t%s\n", d.Name, d.Doc)
		}
	}
}

func listDevices(w io.Writer, _ *spec.Spec, r *spec.Release) {
	for _, e := range spec.Of[*spec.Enum](r) {
		for _, v := range e.Values {
			if v.Device != nil {
				fmt.Fprintf(w, "%s\t%d\t%s\n", v.Name, v.Value, v.Doc)
			}
		}
	}
}

func listDTypes(w io.Writer, _ *spec.Spec, r *spec.Release) {
	for _, t := range r.DTypes {
		fmt.Fprintf(w, "%s\t%s\t%d bits\t%d lanes\t%s\n", t.Name, t.Code, t.Bits, t.Lanes, t.Doc)
	}
}
