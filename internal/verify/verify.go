// Package verify compares a real header with the spec: it compiles probes against it, reads the
// debug information and the preprocessed text, and reports each difference. It runs only the
// compiler, and writes only to a temporary folder. The order of declarations and the spelling of
// enumerators' values may differ.
package verify

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Request is the input of a comparison.
type Request struct {
	Header  string   // path of the header
	CC      string   // compiler, which may bring flags of its own ("zig cc"); default cc, or c++ for C++
	Lang    string   // "c" or "c++"; default c++ for a CC that ends in ++, else c
	Release string   // release of the spec; default: the one that fits best
	Flags   []string // for the compiler, before those of the probe
}

// Result is the result of a comparison.
type Result struct {
	Compiler string   // as it was run, without flags
	Lang     string   // "C" or "C++"
	Model    string   // the data model of the target, such as "lp64"
	Release  string   // the release that the header was compared with
	Fits     []string // every compared release without an error, oldest first
	// Diags contains the differences from Release, each with both values. Errors are differences
	// that affect clients, warnings are parameter names, and notes are not differences.
	Diags []diag.Diagnostic
}

// Error is the reason why nothing could be compared. Its findings are those of the compiler, if
// there are any.
type Error struct {
	Findings []diag.Diagnostic
}

// Error returns the text of the first finding.
func (e *Error) Error() string { return e.Findings[0].Text }

// cannot returns an error with one finding.
func cannot(code, text, hint string) *Error {
	return &Error{Findings: []diag.Diagnostic{{Severity: diag.Error, Code: code, Text: text, Hint: hint}}}
}

// Run compares a header with one release of the spec, or with all of them to find the best match.
// The error is an *Error, unless ctx ended.
func Run(ctx context.Context, s *spec.Spec, req Request) (*Result, error) {
	releases, err := candidates(s, req.Release)
	if err != nil {
		return nil, err
	}
	c, err := newCompiler(req)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "dlpackgen-verify-")
	if err != nil {
		return nil, cannot("io", err.Error(), "")
	}
	defer os.RemoveAll(dir)
	found, err := examine(ctx, c, dir, all(s))
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	r := best(found, releases)
	r.Compiler, r.Lang, r.Model = c.command[0], found.lang.String(), found.model.Name
	return r, nil
}

// candidates returns the releases to compare with, oldest first.
func candidates(s *spec.Spec, version string) ([]*spec.Release, error) {
	if version == "" {
		return all(s), nil
	}
	r, err := s.Release(version)
	if err != nil {
		return nil, cannot("unknown-release", err.Error(), "dlpackgen list versions names the releases")
	}
	return []*spec.Release{r}, nil
}

// all resolves every release of the spec, oldest first.
func all(s *spec.Spec) []*spec.Release {
	var out []*spec.Release
	for _, info := range s.Releases() {
		if r, err := s.Release(info.Version); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// checkHeader returns the absolute path of the header.
func checkHeader(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", cannot("verify-no-header", "cannot read the header: "+err.Error(),
			"--header takes the path of a header file")
	}
	if info.IsDir() {
		return "", cannot("verify-no-header", "the header "+path+" is a folder",
			"name the file in it, such as "+filepath.Join(path, "dlpack.h"))
	}
	if !info.Mode().IsRegular() {
		return "", cannot("verify-no-header", "the header "+path+" is not a regular file",
			"a device or a pipe may never end, and is read more than once: save it to a file first")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", cannot("io", err.Error(), "")
	}
	return abs, nil
}
