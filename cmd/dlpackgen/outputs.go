package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/outputs"
)

// listOutputs implements `list outputs`. It is a separate command, because it has the flags of
// generate.
func (a *app) listOutputs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outputs [DIR/... ...]",
		Short: "List the files that generate writes",
		Long: "List the files that generate writes with the same flags, for build systems. Nothing is written.\n\n" +
			"text   a line for each file: path, target and kind, separated by tabs\n" +
			"json   the same, and the inputs, targets and include directories\n" +
			"cmake  a file to include(), which sets DLPACKGEN_OUTPUTS, _HEADERS, _UNITS, _INPUTS and\n" +
			"       _INCLUDE_DIRECTORIES\n" +
			"ninja  a dyndep file for the build statement whose output is the stamp, or else the lock\n\n" +
			"./... stands for every dlpackgen.yaml below this folder, and works with all formats but ninja.",
		Example: "  dlpackgen list outputs\n" +
			"  dlpackgen list outputs --config ../dlpackgen.yaml --out gen --format json\n" +
			"  dlpackgen list outputs ./...\n" +
			"  dlpackgen list outputs --format ninja --stamp dlpackgen.stamp > outputs.dd",
		Args: patterns,
	}
	s := selectionFlags(cmd)
	format := choiceFlag(cmd, "format", "text, json, cmake or ninja", "text", "json", "cmake", "ninja")
	stamp := cmd.Flags().String("stamp", "", "`FILE` that generate writes as its stamp; only with ninja")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := notEmpty(cmd, "stamp"); err != nil {
			return err
		}
		if len(args) > 0 {
			return s.allOutputs(a, args, format.value)
		}
		if *stamp != "" && format.value != "ninja" {
			return cannot("usage", "omit one of them", "--stamp names the output of a build statement of ninja, "+
				"so it cannot be used with --format %s", format.value)
		}
		l, err := s.outputs()
		if err != nil {
			return err
		}
		return a.printOutputs(l, format.value, *stamp)
	}
	return cmd
}

// listInputs implements `list inputs`, for build systems that cannot read a depfile.
func (a *app) listInputs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inputs",
		Short: "List the files that generate reads",
		Long: "List the files that generate reads with the same flags, one per line, for build systems that cannot read\n" +
			"a depfile: the config, the spec, each go.mod that determines an import path, and your own templates with\n" +
			"their folders. This program is not listed.",
		Example: "  dlpackgen list inputs\n" +
			"  dlpackgen list inputs --config ../dlpackgen.yaml --out gen",
		Args: cobra.NoArgs,
	}
	s := selectionFlags(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		all, err := s.inputs()
		for _, name := range all {
			fmt.Fprintln(a.stdout, filepath.ToSlash(name))
		}
		return err
	}
	return cmd
}

// inputs lists the files that the selection reads. Nothing is rendered.
func (s *selection) inputs() ([]string, error) {
	if s.out == "-" {
		return nil, cannot("usage", "--out DIR", "--out - prints, which only generate does")
	}
	j, err := s.load()
	if err != nil {
		return nil, err
	}
	if _, err := j.models(j.out); err != nil {
		return nil, err
	}
	return slices.Concat(j.inputs, j.read), nil
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
	return j.outputs()
}

// allOutputs lists the plans of all configs below some folders. If a config is invalid, it prints
// nothing, because a build needs the complete list.
func (s *selection) allOutputs(a *app, patterns []string, format string) error {
	if format == "ninja" {
		return cannot("usage", "list the outputs of each config: --config FILE",
			"--format ninja describes one build statement, so it cannot be used with %s", patterns[0])
	}
	b, err := s.loadAll(patterns)
	if err != nil {
		return err
	}
	a.printText(b.findings)
	all := b.each(a, func(j *job) (o outcome) { o.list, o.err = j.outputs(); return o })
	many := outputs.Many{Version: outputs.Version, Configs: []outputs.Config{}}
	for i, o := range all {
		a.printText(o.reported())
		if o.list != nil {
			one := outputs.Config{Config: filepath.ToSlash(b.files[i]), Files: o.list.Files}
			many.Configs = append(many.Configs, one)
		}
	}
	if err := b.ended(all); err != nil {
		return err
	}
	a.printPlan(many, format)
	return nil
}

// outputs lists the plan of a config.
func (j *job) outputs() (*outputs.List, error) {
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
	if format != "ninja" {
		a.printPlan(l, format)
		return nil
	}
	text, err := l.Ninja(cmp.Or(stamp, l.LockPath()))
	if err != nil {
		return cannot("usage", "", "%v", err)
	}
	fmt.Fprint(a.stdout, text)
	return nil
}

// printPlan prints the list of one config or of many.
func (a *app) printPlan(l interface {
	JSON() []byte
	CMake() string
	Text() string
}, format string) {
	switch format {
	case "json":
		a.stdout.Write(l.JSON())
	case "cmake":
		fmt.Fprint(a.stdout, l.CMake())
	default:
		fmt.Fprint(a.stdout, l.Text())
	}
}
