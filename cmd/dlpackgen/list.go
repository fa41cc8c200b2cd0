package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/jsontext"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// query contains the inputs of a list.
type query struct {
	cmd     *cobra.Command
	spec    *spec.Spec
	release *spec.Release
	config  string // the config, which need not exist without the flag
	kernel  string
}

// lists are the functions behind the words of `list`.
var lists = map[string]func(*app, query) (list, error){
	"versions": listVersions,
	"targets":  listTargets,
	"types":    listTypes,
	"devices":  listDevices,
	"dtypes":   listDTypes,
	callers:    listCallers,
}

func (a *app) list() *cobra.Command {
	var version string
	var q query
	words := []string{"versions", "targets", "types", "devices", "dtypes", callers}
	cmd := &cobra.Command{
		Use:   "list versions|targets|types|devices|dtypes|callers|outputs|inputs",
		Short: "List versions, targets, types, devices, dtypes, callers, outputs or inputs",
		Long: "List one entry per line, with its name first.\n" +
			"Types, devices and dtypes are listed for one release, callers for one kernel of the config,\n" +
			"and outputs and inputs for the whole config. Targets include your own ones in the config.",
		Example: "  dlpackgen list versions\n" +
			"  dlpackgen list devices --dlpack main --format json\n" +
			"  dlpackgen list callers --kernel axpy",
		ValidArgs: words,
		Args:      oneOf("list", append(slices.Clip(words), "outputs", "inputs")),
	}
	cmd.AddCommand(a.listOutputs(), a.listInputs())
	dlpackFlag(cmd, &version)
	cmd.Flags().StringVar(&q.config, "config", config.File,
		"`FILE` with targets of your own, and the kernels for callers")
	cmd.Flags().StringVar(&q.kernel, "kernel", "", "`NAME` of the kernel, for callers")
	format := choiceFlag(cmd, "format", "text or json, both on stdout", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := cmp.Or(notEmpty(cmd, "config", "kernel"), unheard(cmd, args[0]))
		if err != nil {
			return err
		}
		if q.spec, err = builtIn(); err != nil {
			return err
		}
		q.cmd = cmd
		if q.release, err = releaseFlag(q.spec, version); err != nil {
			return err
		}
		l, err := lists[args[0]](a, q)
		if err != nil {
			return err
		}
		if format.value == "json" {
			l.Version = listVersion
			a.stdout.Write(jsontext.Of(l))
			return nil
		}
		return a.table(l.print)
	}
	return cmd
}

// heard are the flags that only some lists accept.
var heard = map[string][]string{
	"config": {"targets", callers}, "kernel": {callers}, "dlpack": {"types", "devices", "dtypes", callers},
}

// unheard rejects a flag that would have no effect.
func unheard(cmd *cobra.Command, what string) error {
	for _, flag := range []string{"config", "kernel", "dlpack"} {
		if cmd.Flags().Changed(flag) && !slices.Contains(heard[flag], what) {
			return cannot("usage", "omit it", "--%s applies to list %s, not to list %s", flag,
				strings.Join(heard[flag], ", "), what)
		}
	}
	return nil
}

// print writes a line for each entry.
func (l list) print(w io.Writer) {
	for _, e := range slices.Concat(l.Versions, l.Targets, l.Types, l.Devices, l.DTypes, l.Callers) {
		fmt.Fprintln(w, strings.Join(e.columns(), "\t"))
	}
}

// table prints lines in aligned columns.
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

// dlpackFlag adds --dlpack to a command for one release.
func dlpackFlag(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "dlpack", "latest", "`VERSION` of DLPack, such as 1.3, main or latest")
	complete(cmd, "dlpack", versions)
}

// releaseFlag resolves the value of --dlpack.
func releaseFlag(sp *spec.Spec, version string) (*spec.Release, error) {
	release, err := sp.Release(version)
	if err != nil {
		return nil, cannot("unknown-release", config.Known(sp), "there is no DLPack release %q", version)
	}
	return release, nil
}
