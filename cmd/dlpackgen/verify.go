package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/verify"
	"github.com/dlpackgen/dlpackgen/internal/workspace"
)

func (a *app) verify() *cobra.Command {
	var req verify.Request
	var headers []string
	var vendored string
	cmd := &cobra.Command{
		Use:   "verify --header FILE ... [-- FLAGS] | verify --vendored DIR",
		Short: "Compare a real header with the spec, or vendored files with their lock",
		Long: "Compile a real header and report each difference from the spec, with both values: names,\n" +
			"macros, enumerators, types, signatures, sizes, offsets and alignments. Only the compiler\n" +
			"runs, so a cross compiler works too. Without --dlpack, the best-fitting release is used.\n" +
			"FLAGS after -- are passed to the compiler.\n\n" +
			"With --vendored, report files of a folder that are missing, differ from its lock, or are not\n" +
			"in it. Neither a config nor a compiler is needed.",
		Example: "  dlpackgen verify --header /usr/include/dlpack/dlpack.h\n" +
			"  dlpackgen verify --header dlpack.h --dlpack 1.3 --cc g++\n" +
			"  dlpackgen verify --header dlpack.h --cc 'clang --target=i686-linux-gnu' -- -std=c11\n" +
			"  dlpackgen verify --vendored third_party/dlpack",
		Args: flagsAfterDash,
	}
	f := cmd.Flags()
	f.StringArrayVar(&headers, "header", nil, "`FILE` to compare; may be repeated")
	f.StringVar(&vendored, "vendored", "", "`DIR` with a lock, or the lock itself: compare the files with it")
	f.StringVar(&req.Release, "dlpack", "", "`VERSION` of DLPack to compare with, instead of the best-fitting one")
	f.StringVar(&req.CC, "cc", "", "compiler: `CC`, which may contain flags (default cc, or c++ for C++)")
	lang := choiceFlag(cmd, "lang", "language: c, c++, or auto, which is C++ if the name of CC ends in ++", "auto", "c",
		"c++")
	format := formats(cmd)
	complete(cmd, "dlpack", versions)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if f.Changed("vendored") {
			err := vendoredAlone(cmd, vendored, args)
			if err == nil {
				err = a.verifyVendored(format, vendored)
			}
			return a.reported(format, err)
		}
		if len(headers) == 0 || slices.Contains(headers, "") {
			return a.reported(format, cannot("usage", "--header FILE", "verify needs a header"))
		}
		if f.Changed("cc") && strings.TrimSpace(req.CC) == "" {
			return a.reported(format, cannot("usage", "--cc CC, or no --cc for the default", "--cc names no compiler"))
		}
		req.Flags, req.Lang = args, strings.TrimPrefix(lang.value, "auto")
		return a.compareHeaders(format, headers, req)
	}
	return cmd
}

// flagsAfterDash rejects arguments that are not the compiler's.
func flagsAfterDash(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); len(args) > 0 && dash != 0 {
		return cannot("usage", "put flags of the compiler after --", "verify takes no argument %q", args[0])
	}
	return nil
}

// comparedHeader is the result of the comparison of one header.
type comparedHeader struct {
	result *verify.Result
	err    error
}

// compareHeaders compares headers concurrently. It reports the differences, and the release of each
// header, in the order of the headers. A header that cannot be compared does not stop the others.
func (a *app) compareHeaders(format *choice, headers []string, req verify.Request) error {
	sp, err := builtIn()
	if err != nil {
		return err
	}
	all := make([]comparedHeader, len(headers))
	line := a.progress("headers", len(headers))
	a.stoppable(func(ctx context.Context) { // it removes its temporary files
		workspace.Each(len(headers), func(i int) {
			one := req
			one.Header = headers[i]
			all[i].err = guard(func() (err error) { all[i].result, err = verify.Run(ctx, sp, one); return err })
		}, line.tick)
	})
	line.done()
	var findings []diag.Diagnostic
	var failed bool
	for i, c := range all {
		if c.err != nil {
			findings, failed = append(findings, verifyFailure(c.err, headers[i])...), true
			continue
		}
		a.sayCompared(format, headers[i], c.result)
		findings = append(findings, c.result.Diags...)
	}
	err = a.report(format, findings)
	if failed {
		return &failure{code: exitCannot}
	}
	return err
}

// verifyFailure returns the failure for a header that could not be compared.
func verifyFailure(err error, header string) []diag.Diagnostic {
	var f *verify.Error
	if errors.As(err, &f) {
		return f.Findings
	}
	var own *failure
	if errors.As(named(err, header), &own) {
		return own.findings
	}
	return cannot("internal", "", "%v", err).findings
}

func (a *app) sayCompared(format *choice, header string, result *verify.Result) {
	if format.value != "text" {
		return
	}
	a.say("%s, as %s compiles it to %s (%s)", header, result.Compiler, result.Lang, result.Model)
	a.say("compared with DLPack %s; without a difference: %s", result.Release, orNone(result.Fits))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
