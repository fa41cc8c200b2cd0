package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/project"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

func (a *app) init() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented " + config.File + ", or a first project",
		Long: "Write a commented " + config.File +
			" to the current directory: the newest release pinned,\nevery target listed, only c active. An existing " +
			"file is never overwritten.\n\n" +
			"--project NAME creates a folder instead: a Python package with one kernel, its C code, a test, and\n" +
			"the files for setuptools and CI. No later run changes it.",
		Example: "  dlpackgen init && dlpackgen generate\n" +
			"  dlpackgen init --project mylib && cd mylib && dlpackgen generate && pip install '.[test]'",
		Args: noArgs,
	}
	name := cmd.Flags().String("project", "", "write a Python package of kernels to the new folder `NAME`")
	cmd.RunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("project") {
			return a.createProject(*name)
		}
		sp, err := builtIn()
		if err != nil {
			return err
		}
		text := starter(sp.Latest(), targets.All())
		if err := a.create(func() error { return createFile(config.File, []byte(text)) }); err != nil {
			return err
		}
		a.say("wrote %s; next: dlpackgen generate", config.File)
		return nil
	}
	return cmd
}

// createProject writes a project to a new folder.
func (a *app) createProject(name string) error {
	if err := project.CheckName(name); err != nil {
		return cannot("usage", "dlpackgen init --project mylib", "--project: %v", err)
	}
	files, err := project.Files(name, self().Version)
	if err != nil {
		return cannot("emit", "", "%v", err)
	}
	if err := a.create(func() error { return createFolder(name, files) }); err != nil {
		return err
	}
	a.say("wrote %d files to %s; next: cd %s && dlpackgen generate && pip install '.[test]'", len(files), name, name)
	return nil
}

// starter returns the text of a first config.
func starter(release string, rows []emit.Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The files that dlpackgen generates. After a change, run: dlpackgen generate
version: %d
dlpack: %q  # latest follows the tool; main is not released yet
out: .  # relative to this file
targets:
`, config.Version, release)
	for _, t := range rows {
		writeRow(&b, t)
	}
	b.WriteString(`
# Devices of your own, which join DLDeviceType:
# devices:
#   kDLAcme: {value: 1000, doc: Memory of an Acme accelerator., host_readable: false}

# A target of your own, made from the templates in a folder, below targets:
#   rust: {templates: tools/rust, path: src/dlpack}

# Kernels of your own in C or, for target gokernels, in Go; they need target kernels:
# kernels:
#   scale:
#     {namespace: mylib, symbol: mylib_scale, args: {x: "float32[...]", by: float},
#      returns: {y: "float32[...]"}}
#   relu: {lang: go, namespace: mylib, args: {x: "float32[...]"}, returns: {y: "float32[...]"}}

# Drivers of your own, each a target; backends/acme/acme_impl.c is yours to go on with:
# backends:
#   acme:
#     implementation: custom
#     title: Acme
#     doc: Memory and streams of Acme's devices.
#     install_hint: Acme's driver
#     status_type: int
#     devices: [{type: kDLExtDev, memory: device, id: ordinal, torch: PrivateUse1}]
#     streams: {none: 0, rejected: [1, 2]}
#     library: {linux: [libacme.so.1]}
#     functions: {init: {symbol: acmeInit, params: void}}
#     errors: {ACME_NO_DEVICE: {value: -1, kind: no_device, text: there is none}}
`)
	return b.String()
}

// writeRow writes the line of a target; all targets but c are commented out.
func writeRow(b *strings.Builder, t emit.Target) {
	mark := "# "
	if t.Name == "c" {
		mark = ""
	}
	writeComment(b, "  # ", strings.TrimSuffix(t.About(), ".")+". DLPack "+t.Oldest+" and newer.")
	fmt.Fprintf(b, "  %s%s:\n", mark, t.Name)
	fmt.Fprintf(b, "  %s  path: %s\n", mark, t.Path)
	for _, o := range t.Options {
		line, doc := fmt.Sprintf("  #   %s: %s", o.Name, cmp.Or(o.Default, o.Example)), "  # "+o.Doc
		if len(line)+len(doc) > starterColumns {
			writeComment(b, "  #   # ", o.Doc)
			doc = ""
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(line+doc, " "))
	}
}

// starterColumns is the width of a first config.
const starterColumns = 100

// writeComment writes a text in lines that begin with a mark.
func writeComment(b *strings.Builder, mark, text string) {
	for _, line := range emit.Wrap(text, starterColumns-len(mark)) {
		fmt.Fprintf(b, "%s%s\n", mark, line)
	}
}
