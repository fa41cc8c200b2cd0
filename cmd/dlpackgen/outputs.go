package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/outputs"
)

// listOutputs is the word of list for the files of a run. It is a verb below list, since it takes
// the flags of generate.
func (a *app) listOutputs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outputs",
		Short: "List the files that generate writes",
		Long: "List the files that generate writes with the same flags, for build systems. Nothing is written.\n\n" +
			"text   a line for each file: path, target, kind, with tabs between them\n" +
			"json   those, and the inputs, targets and include directories\n" +
			"cmake  a file to include() that sets DLPACKGEN_OUTPUTS, _HEADERS, _UNITS, _INPUTS and\n" +
			"       _INCLUDE_DIRECTORIES\n" +
			"ninja  a dyndep file for the build statement whose output is the stamp, or else the lock",
		Example: "  dlpackgen list outputs\n" +
			"  dlpackgen list outputs --config ../dlpackgen.yaml --out gen --format json\n" +
			"  dlpackgen list outputs --format ninja --stamp dlpackgen.stamp > outputs.dd",
		Args: noArgs,
	}
	s := selectionFlags(cmd)
	format := choiceFlag(cmd, "format", "text, json, cmake or ninja", "text", "json", "cmake", "ninja")
	stamp := cmd.Flags().String("stamp", "", "`FILE` that generate writes as its stamp; only with ninja")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := notEmpty(cmd, "stamp"); err != nil {
			return err
		}
		if *stamp != "" && format.value != "ninja" {
			return cannot("usage", "leave one of them out", "--stamp names the output of a build statement of ninja, "+
				"so it does not go with --format %s", format.value)
		}
		l, err := s.outputs()
		if err != nil {
			return err
		}
		return a.printOutputs(l, format.value, *stamp)
	}
	return cmd
}

// outputs lists the plan of the selection.
func (s *selection) outputs() (*outputs.List, error) {
	if s.out == "-" {
		return nil, cannot("usage", "--out DIR", "--out - prints, which only generate does")
	}
	j, err := s.load()
	if err != nil {
		return nil, err
	}
	req, err := j.rendered()
	if err != nil {
		return nil, err
	}
	l, err := outputs.Of(req)
	if err != nil {
		return nil, treeFailure(err)
	}
	return l, nil
}

func (a *app) printOutputs(l *outputs.List, format, stamp string) error {
	switch format {
	case "json":
		a.stdout.Write(l.JSON())
	case "cmake":
		fmt.Fprint(a.stdout, l.CMake())
	case "ninja":
		text, err := l.Ninja(cmp.Or(stamp, l.LockPath()))
		if err != nil {
			return cannot("usage", "", "%v", err)
		}
		fmt.Fprint(a.stdout, text)
	default:
		fmt.Fprint(a.stdout, l.Text())
	}
	return nil
}
