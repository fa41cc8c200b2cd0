package main

import (
	"fmt"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// The exit codes of the contract.
const (
	exitFine     = 0
	exitFindings = 1
	exitCannot   = 2
	exitSignal   = 128 // and the number of the signal
)

// exitCodes are the exit codes in words, for help texts and man pages.
var exitCodes = []struct {
	code int
	when string
}{
	{exitFine, "success"},
	{exitFindings, "drift, edited files, findings, or a breaking change"},
	{exitCannot, "could not run: usage, unreadable or invalid input, a newer lock, I/O"},
	{exitSignal + int(syscall.SIGINT), "interrupted by SIGINT, as by Ctrl-C"},
	{exitSignal + int(syscall.SIGTERM), "interrupted by SIGTERM"},
}

// exitHelp ends every help text.
func exitHelp() string {
	text := "\nExit code:\n"
	for _, e := range exitCodes {
		text += fmt.Sprintf("  %d  %s\n", e.code, e.when)
	}
	return text
}

// exitStatus is the text of exitHelp as a section of man pages.
func exitStatus() string {
	text := "\n\n# EXIT STATUS\n"
	for _, e := range exitCodes {
		text += fmt.Sprintf("\n**%d** %s\n", e.code, e.when)
	}
	return text
}

// failure is an error that ends a run with an exit code, after its findings are printed.
type failure struct {
	code     int
	findings []diag.Diagnostic
}

// Error is the text of the first finding.
func (f *failure) Error() string {
	if len(f.findings) == 0 {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.findings[0].Text
}

// cannot returns the failure of a run that was not possible, for a reason that concerns no file.
func cannot(code, hint, format string, args ...any) *failure {
	return &failure{code: exitCannot, findings: []diag.Diagnostic{{
		Severity: diag.Error, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint,
	}}}
}

// invalid returns the failure of a run whose input has errors, or nil without errors.
func invalid(list *diag.List) error {
	if !list.Failed() {
		return nil
	}
	return &failure{code: exitCannot, findings: list.Sorted()}
}

// guard converts a panic to a failure: a defect of dlpackgen must not print a stack trace among the
// findings of a build.
func guard(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = cannot("internal",
				"this is a defect of dlpackgen; please report it with the command and its input",
				"internal error: %v", r)
		}
	}()
	return run()
}
