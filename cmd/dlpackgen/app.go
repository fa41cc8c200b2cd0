package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// app is the state of one run of the command.
type app struct {
	stdout *sink
	stderr io.Writer
	color  bool // of text on stderr
	interrupts
}

// Main runs the command and returns its exit code. Every failure becomes a finding: no input makes
// the command panic.
func Main(args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: &sink{w: stdout}, stderr: stderr, color: wantsColor(stderr)}
	a.stop = make(chan struct{})
	root := a.root()
	root.SetArgs(slices.Concat([]string{}, args)) // cobra takes os.Args for nil
	return a.finish(a.interruptible(func() error {
		err := guard(root.Execute)
		if a.stdout.err != nil {
			err = cannot("output", "", "write to stdout: %v", a.stdout.err)
		}
		return err
	}))
}

// finish prints the failure that ended a run, and converts it to the exit code.
func (a *app) finish(err error) int {
	if err == nil {
		return exitFine
	}
	var f *failure
	if !errors.As(err, &f) {
		f = cannot("usage", "dlpackgen --help", "%v", err)
	}
	a.printText(f.findings)
	return f.code
}

// printText writes findings as text. Findings without a file begin with the name of the tool, which
// identifies them in the log of a build.
func (a *app) printText(findings []diag.Diagnostic) {
	for _, d := range findings {
		if d.Pos.File == "" {
			fmt.Fprint(a.stderr, "dlpackgen: ")
		}
		fmt.Fprint(a.stderr, diag.Text([]diag.Diagnostic{d}, a.color))
	}
}

// say writes a progress message.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "dlpackgen: %s\n", diag.Line(fmt.Sprintf(format, args...)))
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dlpackgen",
		Short: "Generate callers of kernels, headers and bindings for DLPack",
		Long: "Generate callers of kernels, headers, bindings and backends from dlpackgen.yaml, and check headers\n" +
			"against one spec of every DLPack release.",
		Example: "  dlpackgen init && dlpackgen generate\n  dlpackgen check --diff\n  dlpackgen generate --only c " +
			"--dlpack 0.8 --out -",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          a.noCommand,
	}
	root.Flags().Bool("version", false, "print the version of the tool")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.help())
	root.SetUsageFunc(usage(root.UsageFunc()))
	root.AddCommand(a.generate(), a.check(), a.clean(), a.vet(), a.layout(), a.compat(),
		a.verify(), a.list(), a.explain(), a.model(), a.schema(), a.init(), a.version(), a.completion())
	return root
}

// usage adds the exit codes to cobra's text. A template of cobra would link text/template into the
// program (see internal/template).
func usage(ofCobra func(*cobra.Command) error) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		err := ofCobra(cmd)
		fmt.Fprint(cmd.OutOrStderr(), exitHelp())
		return err
	}
}

// noCommand prints the version for --version. Otherwise, it prints the help to stderr, because the
// help was not requested.
func (a *app) noCommand(cmd *cobra.Command, _ []string) error {
	if wanted, err := cmd.Flags().GetBool("version"); err != nil || wanted {
		a.printVersion()
		return err
	}
	cmd.SetOut(a.stderr)
	if err := cmd.Help(); err != nil {
		return err
	}
	return &failure{code: exitCannot}
}

// help shows the same text as --help. cobra's own command succeeds for an unknown command. Only
// tools/release and tools/site use the format json.
func (a *app) help() *cobra.Command {
	cmd := &cobra.Command{Use: "help [COMMAND]", Short: "Show the help of a command"}
	format := choiceFlag(cmd, "format", "text or json", "text", "json")
	_ = cmd.Flags().MarkHidden("format") // fails for an unknown flag only
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format.value == "json" {
			return a.printDescription(cmd.Root())
		}
		command, rest, err := cmd.Root().Find(args)
		if err == nil && !command.HasParent() {
			err = unknownCommand(command, rest)
		}
		if err != nil {
			return err
		}
		return command.Help()
	}
	return cmd
}

// unknownCommand reports a first argument that is not a command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var commands []string
	for _, c := range cmd.Commands() {
		commands = append(commands, c.Name())
	}
	hint := diag.DidYouMean(args[0], commands)
	if hint == "" {
		hint = "the commands are " + strings.Join(commands, ", ")
	}
	return cannot("usage", hint, "there is no command %q", args[0])
}

// flagError adds the nearest flag to what pflag reports.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		if near := diag.DidYouMean("--"+unknown.GetSpecifiedName(), names); near != "" {
			hint = near
		}
	}
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		if c, ok := value.GetFlag().Value.(*choice); ok {
			return cannot("usage", diag.DidYouMean(value.GetValue(), c.allowed), "--%s must be %s, not %q",
				value.GetFlag().Name, diag.OneOf(c.allowed), value.GetValue())
		}
		if value.GetFlag().Value.Type() == "bool" {
			return cannot("usage", "--"+value.GetFlag().Name, "--%s must be true or false, not %q",
				value.GetFlag().Name,
				value.GetValue())
		}
	}
	return cannot("usage", hint, "%v", err)
}

// sink records the first failed write, so that a run with a full disk does not succeed.
type sink struct {
	w   io.Writer
	err error
}

// Write writes to the underlying writer.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// wantsColor reports whether a stream is a terminal, and colours are not disabled. The Windows
// console supports escapes only in a special mode, so it gets no colours.
func wantsColor(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(w) }

// isTerminal reports whether a stream supports escapes.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || runtime.GOOS == "windows" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
