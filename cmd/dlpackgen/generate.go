package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// generateFlags are the flags of generate, besides the selection.
type generateFlags struct {
	*selection
	app     *app
	dryRun  bool
	force   bool
	depfile string
	stamp   string
	outputs bool // in the depfile
	quiet   *bool
}

func (a *app) generate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate [DIR/... ...]",
		Short: "Generate the files of the config",
		Long: "Write the files of every target in the config, and delete files that are no longer planned.\n" +
			"Files that are up to date keep their modification time. Everything is rendered first, so nothing\n" +
			"is written after an error. A file that was edited by hand stops the run before it writes anything.\n\n" +
			"--out - prints the interface file of one target instead. It needs --only with one of these:\n" +
			interfaces() + ".\n\n" +
			"./... stands for every dlpackgen.yaml below this folder, each with its own lock. They are processed\n" +
			"concurrently, and a failed one does not stop the others.",
		Example: "  dlpackgen generate\n" +
			"  dlpackgen generate --dry-run\n" +
			"  dlpackgen generate ./...\n" +
			"  dlpackgen generate --out third_party/dlpack --only c --dlpack 1.1\n" +
			"  dlpackgen generate --only c --out - > dlpack.h\n" +
			"  dlpackgen generate --quiet --stamp build/dlpackgen.stamp --depfile build/dlpackgen.d",
		Args: patterns,
	}
	f := &generateFlags{selection: selectionFlags(cmd), app: a}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "report what would be done, but write nothing")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace files that were edited by hand")
	cmd.Flags().StringVar(&f.depfile, "depfile", "",
		"write the inputs to `FILE`, for make or ninja: config, spec, go.mod, templates and this program")
	cmd.Flags().StringVar(&f.stamp, "stamp", "",
		"write `FILE` in each successful run, as the target of a make rule")
	cmd.Flags().BoolVar(&f.outputs, "depfile-outputs", false,
		"list the outputs in the depfile too, so that a missing one is generated again; needs --depfile and --stamp")
	f.quiet = quietFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := notEmpty(cmd, "depfile", "stamp"); err != nil {
			return err
		}
		if f.outputs && (f.depfile == "" || f.stamp == "") {
			return cannot("usage", "add them, or omit it", "--depfile-outputs needs --depfile and --stamp")
		}
		if len(args) > 0 {
			return f.all(a, args)
		}
		return f.one(a)
	}
	return cmd
}

// make brings the tree up to date, and reports the changes.
func (f *generateFlags) make(j *job) outcome {
	req, err := j.rendered()
	if err == nil {
		err = j.checkSides(f.depfile, f.stamp)
	}
	if err != nil {
		return outcome{err: err}
	}
	req.Force, req.Depfile, req.Stamp, req.Binary = f.force, f.depfile, f.stamp, lasting(os.Executable())
	req.DepfileOutputs = f.outputs
	req.Stop = f.app.stop
	report, err := f.app.change(f.dryRun, func() (*tree.Report, error) { return tree.Generate(req, f.dryRun) })
	if err != nil {
		return outcome{err: treeFailure(err)}
	}
	return done(j, report, f.dryRun)
}

// one processes the config of this folder, or the config of --config.
func (f *generateFlags) one(a *app) error {
	j, err := f.load()
	if err != nil {
		return err
	}
	a.printText(j.notes)
	if f.out == "-" {
		return a.printHeader(f, j)
	}
	o := f.make(j)
	if o.err == nil {
		a.show(f.dryRun, *f.quiet, o)
	}
	return o.err
}

// all processes every config below some folders, each as a separate run. A failed run leaves the
// files of its config unchanged and does not stop the others.
func (f *generateFlags) all(a *app, patterns []string) error {
	b, err := f.loadAll(patterns)
	if err != nil {
		return err
	}
	a.printText(b.findings)
	all := b.each(a, func(j *job) outcome {
		o := f.make(j)
		o.findings = append(j.notes, o.findings...)
		return o
	})
	a.show(f.dryRun, *f.quiet, all...)
	return b.ended(all)
}

// goRun matches the path of a temporary program of go run.
var goRun = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\]`)

// lasting returns the path of this program for a depfile, or "" if the path is unknown or
// temporary.
func lasting(program string, err error) string {
	if err != nil || goRun.MatchString(program) {
		return ""
	}
	return program
}

// quietFlag adds --quiet to a command that lists files.
func quietFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("quiet", false, "do not list files; print only warnings and errors")
}

// printHeader renders only the interface file of a target, to stdout.
func (a *app) printHeader(f *generateFlags, j *job) error {
	if len(f.only) != 1 || f.depfile != "" || f.stamp != "" {
		return cannot("usage", "--only c --out -",
			"--out - prints the interface file of one target: it needs --only with one name, and no --depfile or --stamp")
	}
	made, err := j.render("")
	if err != nil {
		return err
	}
	files := made[0].Files
	i := slices.IndexFunc(files, func(f emit.File) bool { return f.Main })
	switch t := j.config.Selected[0]; {
	case i < 0 && t.Interface != "":
		hint := fmt.Sprintf("write `%s: {%s: true}` in a config, under targets", t.Name, t.Single)
		return cannot("usage", hint, "target %s has an interface file only with %s: true", t.Name, t.Single)
	case i < 0:
		return cannot("usage", "these targets have one: "+interfaces(), "target %s has no interface file", t.Name)
	}
	_, err = a.stdout.Write(files[i].Data)
	return err
}

// interfaces lists the targets that have an interface file.
func interfaces() string {
	var all []string
	for _, t := range targets.All() {
		switch {
		case t.Interface == "":
		case t.Single != "":
			all = append(all, t.Name+" with "+t.Single+": true")
		default:
			all = append(all, t.Name)
		}
	}
	return strings.Join(all, ", ")
}

// done reports what a run did to each file of a config, and counts the actions.
func done(j *job, report *tree.Report, dryRun bool) outcome {
	o := outcome{findings: warnings(j, report), counts: map[tree.Action]int{}}
	for _, it := range report.Items {
		if it.State == tree.Untracked {
			continue // not touched, but not up to date either
		}
		o.counts[it.Action]++
		if it.Action != tree.Keep {
			o.touched = append(o.touched, fmt.Sprintf("%s%s %s", would(dryRun), it.Action, j.name(it.Path)))
		}
	}
	return o
}

func would(dryRun bool) string {
	if dryRun {
		return "would be "
	}
	return ""
}

// show lists every file that the runs changed, and counts them unless every run failed.
func (a *app) show(dryRun, quiet bool, all ...outcome) {
	for _, o := range all {
		a.printText(o.reported())
		for _, line := range o.touched {
			if !quiet || dryRun {
				a.say("%s", line)
			}
		}
	}
	if sum := total(all); len(sum) > 0 && (!quiet || dryRun) {
		a.say("%s", summary(sum, would(dryRun)))
	}
}
