package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// generateFlags is what the flags of generate say, beside the selection.
type generateFlags struct {
	*selection
	dryRun  bool
	force   bool
	depfile string
	stamp   string
	outputs bool // in the depfile
	quiet   *bool
}

func (a *app) generate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make the files that the config asks for",
		Long: "Make the files of every target in the config, remove those that are no longer made, and\n" +
			"leave files that are as they should be untouched, down to their time. Everything is\n" +
			"rendered first: after an error nothing is written. A file that was edited by hand stops\n" +
			"the run before it writes anything.\n\n" +
			"--out - prints the interface file of one target instead; it needs --only c, or another\n" +
			"target that has one: python, and cpp with single: true.",
		Example: "  dlpackgen generate\n" +
			"  dlpackgen generate --dry-run\n" +
			"  dlpackgen generate --out third_party/dlpack --only c --dlpack 1.1\n" +
			"  dlpackgen generate --only c --out - > dlpack.h\n" +
			"  dlpackgen generate --quiet --stamp build/dlpackgen.stamp --depfile build/dlpackgen.d",
		Args: noArgs,
	}
	f := &generateFlags{selection: selectionFlags(cmd)}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and write nothing")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace files that were edited by hand")
	cmd.Flags().StringVar(&f.depfile, "depfile", "",
		"write the inputs to `FILE`, for make or ninja: config, spec, go.mod and this program")
	cmd.Flags().StringVar(&f.stamp, "stamp", "",
		"write `FILE` in each run that succeeds, as the target of a rule for make")
	cmd.Flags().BoolVar(&f.outputs, "depfile-outputs", false,
		"list the outputs in the depfile too, so that a lost one is made again; with --depfile and --stamp")
	f.quiet = quietFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := notEmpty(cmd, "depfile", "stamp"); err != nil {
			return err
		}
		if f.outputs && (f.depfile == "" || f.stamp == "") {
			return cannot("usage", "add them, or leave it out", "--depfile-outputs needs --depfile and --stamp")
		}
		j, err := f.load()
		if err != nil {
			return err
		}
		a.printText(j.notes)
		if f.out == "-" {
			return a.printHeader(f, j)
		}
		return a.make(f, j)
	}
	return cmd
}

// make brings the tree up to date, and says what that took.
func (a *app) make(f *generateFlags, j *job) error {
	req, err := j.rendered()
	if err != nil {
		return err
	}
	req.Force, req.Depfile, req.Stamp, req.Binary = f.force, f.depfile, f.stamp, lasting(os.Executable())
	req.DepfileOutputs = f.outputs
	report, err := tree.Generate(req, f.dryRun)
	if err != nil {
		return treeFailure(err)
	}
	a.printText(warnings(j, report))
	if !*f.quiet || f.dryRun {
		a.sayActions(j, report, f.dryRun)
	}
	return nil
}

// goRun is where go run puts a program that it removes afterwards.
var goRun = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\]`)

// lasting gives the path of this program, for a depfile; "" where it is unknown or
// will be gone.
func lasting(program string, err error) string {
	if err != nil || goRun.MatchString(program) {
		return ""
	}
	return program
}

// quietFlag adds --quiet to a verb that names the files that it touches.
func quietFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("quiet", false, "name no files; print only warnings and errors")
}

// printHeader renders the interface file of a target to stdout, for a project that wants no more.
func (a *app) printHeader(f *generateFlags, j *job) error {
	if len(f.only) != 1 || f.depfile != "" || f.stamp != "" {
		return cannot("usage", "--only c --out -",
			"--out - prints one header: it needs --only c, or another target, and has no depfile and no stamp")
	}
	made, err := j.render("")
	if err != nil {
		return err
	}
	files := made[0].Files
	i := slices.IndexFunc(files, func(f emit.File) bool { return f.Main })
	if i < 0 {
		return cannot("usage", "--only c --out -", "target %s has no one interface file to print", f.only[0])
	}
	_, err = a.stdout.Write(files[i].Data)
	return err
}

// sayActions names every file that was touched; silence means that all is kept.
func (a *app) sayActions(j *job, report *tree.Report, dryRun bool) {
	counts := map[tree.Action]int{}
	would := ""
	if dryRun {
		would = "would be "
	}
	for _, it := range report.Items {
		if it.State == tree.Untracked {
			continue // left alone, which is not the same as kept up to date
		}
		counts[it.Action]++
		if it.Action != tree.Keep {
			a.say("%s%s %s", would, it.Action, j.name(it.Path))
		}
	}
	var summary []string
	for _, act := range []tree.Action{tree.Create, tree.Replace, tree.Delete} {
		if counts[act] > 0 {
			summary = append(summary, fmt.Sprintf("%d %s%s", counts[act], would, act))
		}
	}
	if counts[tree.Keep] > 0 || len(summary) == 0 {
		summary = append(summary, fmt.Sprintf("%d kept", counts[tree.Keep]))
	}
	a.say("%s", strings.Join(summary, ", "))
}
