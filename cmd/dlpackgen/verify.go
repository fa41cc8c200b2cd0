package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

func (a *app) verify() *cobra.Command {
	var req verify.Request
	cmd := &cobra.Command{
		Use:   "verify --header FILE [-- FLAGS]",
		Short: "Compare a real header with the spec",
		Long: "Compile a real header and report each difference from the spec, with both values: names,\n" +
			"macros, enumerators, types, signatures, sizes, offsets and alignments. Nothing is run but\n" +
			"the compiler, so a cross compiler will do. Without --dlpack, the release that fits best.\n" +
			"FLAGS after -- go to the compiler.",
		Example: "  dlpackgen verify --header /usr/include/dlpack/dlpack.h\n" +
			"  dlpackgen verify --header dlpack.h --dlpack 1.3 --cc g++\n" +
			"  dlpackgen verify --header dlpack.h --cc 'clang --target=i686-linux-gnu' -- -std=c11",
		Args: flagsAfterDash,
	}
	f := cmd.Flags()
	f.StringVar(&req.Header, "header", "", "`FILE` to compare; required")
	f.StringVar(&req.Release, "dlpack", "", "`VERSION` of DLPack to compare with, instead of the one that fits best")
	f.StringVar(&req.CC, "cc", "", "compiler to use: `CC`, which may hold flags (default cc, or c++ for C++)")
	lang := choiceFlag(cmd, "lang", "language: c, c++, or auto, which is C++ for a CC that ends in ++", "auto", "c",
		"c++")
	format := formats(cmd)
	complete(cmd, "dlpack", versions)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if req.Header == "" {
			return a.reported(format, cannot("usage", "--header FILE", "verify needs the header to look at"))
		}
		if f.Changed("cc") && strings.TrimSpace(req.CC) == "" {
			return a.reported(format, cannot("usage", "--cc CC, or no --cc for the default", "--cc names no compiler"))
		}
		req.Flags, req.Lang = args, strings.TrimPrefix(lang.value, "auto")
		return a.reported(format, a.compareHeader(format, req))
	}
	return cmd
}

// flagsAfterDash refuses arguments that are not the compiler's.
func flagsAfterDash(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); len(args) > 0 && dash != 0 {
		return cannot("usage", "flags of the compiler stand after --", "verify takes no argument %q", args[0])
	}
	return nil
}

// compareHeader reports the differences, and which release they are from.
func (a *app) compareHeader(format *choice, req verify.Request) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := verify.Run(ctx, spec.Embedded(), req)
	var failed *verify.Error
	if errors.As(err, &failed) {
		return &failure{code: exitCannot, findings: failed.Findings}
	}
	if err != nil {
		return cannot("interrupted", "", "%v", err)
	}
	if format.value == "text" {
		a.say("%s, as %s compiles it to %s (%s)", req.Header, result.Compiler, result.Lang, result.Model)
		a.say("compared with DLPack %s; without a difference: %s", result.Release, orNone(result.Fits))
	}
	return a.report(format, result.Diags)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
