package main

import (
	"errors"
	"path/filepath"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// words is how check speaks of a state.
type words struct {
	severity   diag.Severity
	text, hint string
}

const regenerate = "dlpackgen generate"

var states = map[tree.State]words{
	tree.Missing:    {diag.Error, "is not there", regenerate},
	tree.Changed:    {diag.Error, "is not what would be generated now", regenerate},
	tree.Stale:      {diag.Error, "is no longer generated", regenerate + " removes it"},
	tree.Edited:     {diag.Error, "was edited by hand", "undo that, or replace it: " + regenerate + " --force"},
	tree.Leftover:   {diag.Error, "carries our banner, but nothing says that it is ours", "remove it, or restore the lock that lists it"},
	tree.Foreign:    {diag.Note, "is not ours, and is left alone", ""},
	tree.LockDrift:  {diag.Error, "does not record these files", regenerate},
	tree.Unfinished: {diag.Error, "is left from a run that did not finish", regenerate + " heals it"},
}

// findings turns a report into what check says; files that are as planned are
// not mentioned.
func findings(j *job, report *tree.Report) []diag.Diagnostic {
	var out []diag.Diagnostic
	for _, it := range report.Items {
		if w, ok := states[it.State]; ok {
			out = append(out, diag.Diagnostic{
				Severity: w.severity, Code: it.State.String(), Text: w.text, Hint: w.hint,
				Pos: diag.Pos{File: j.name(it.Path)},
			})
		}
	}
	return out
}

// warnings gives what a run that writes leaves behind for its user to decide.
func warnings(j *job, report *tree.Report) []diag.Diagnostic {
	var out []diag.Diagnostic
	for _, d := range findings(j, report) {
		if d.Code == tree.Leftover.String() || d.Code == tree.Edited.String() {
			d.Severity = diag.Warning
			out = append(out, d)
		}
	}
	return out
}

// name is a path of the tree as seen from the current directory.
func (j *job) name(treePath string) string {
	return filepath.Join(j.out, filepath.FromSlash(treePath))
}

// treeFailure carries over what the tree reports, with its exit code.
func treeFailure(err error) error {
	var e *tree.Error
	if !errors.As(err, &e) {
		return cannot("io", "", "%v", err)
	}
	return &failure{code: e.ExitCode(), findings: e.Findings}
}
