package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
	tree.Missing:  {diag.Error, "is not there", regenerate},
	tree.Outdated: {diag.Error, "is out of date", regenerate},
	tree.Obsolete: {diag.Error, "is no longer generated", regenerate + " removes it"},
	tree.Modified: {diag.Error, "was edited by hand", "undo that, or replace it: " + regenerate + " --force"},
	tree.Orphaned: {diag.Error, "has the banner of dlpackgen, but no lock lists it",
		"remove it, or restore the lock that lists it"},
	tree.Untracked:    {diag.Note, "is not a generated file, and is kept", ""},
	tree.LockOutdated: {diag.Error, "is missing or outdated", regenerate},
	tree.Interrupted:  {diag.Error, "is left over from an interrupted run", regenerate + " completes or undoes it"},
}

// maxForeign is how many files of others below one path are named one by one. A
// path may be the root of a project, where they are the project itself.
const maxForeign = 3

// findings turns a report into what check says; files that are as planned are
// not mentioned.
func findings(j *job, report *tree.Report) []diag.Diagnostic {
	var out diag.List
	if d, differs := otherTool(j, report.Writer); differs {
		out.Add(d)
	}
	many := j.manyForeign(report)
	for _, it := range report.Items {
		if it.State == tree.Untracked && many[j.pathAbove(it.Path)] > 0 {
			continue
		}
		if d, ok := finding(j, it); ok {
			out.Add(d)
		}
	}
	for above, count := range many {
		out.Add(diag.Diagnostic{
			Severity: diag.Note, Code: tree.Untracked.String(), Pos: diag.Pos{File: j.name(above)},
			Text: fmt.Sprintf("%d files here are not generated, and are kept", count),
		})
	}
	return out.Sorted()
}

// otherTool notes that another build wrote the lock, which explains files that differ.
func otherTool(j *job, writer tree.Tool) (diag.Diagnostic, bool) {
	this := self()
	text := fmt.Sprintf("was written by dlpackgen %s, and this is %s", writer.Version, this.Version)
	if writer.Version == this.Version {
		text = fmt.Sprintf("was written by another build of dlpackgen %s: its digest is %s, this one's %s",
			this.Version, writer.Digest, this.Digest)
	}
	return diag.Diagnostic{
		Severity: diag.Note, Code: "tool", Text: text, Pos: diag.Pos{File: j.name(j.lock)},
		Hint: "the two builds may generate different files; `dlpackgen version` identifies this one",
	}, writer.Version != "" && writer != this
}

// finding is what check says about one path, if anything.
func finding(j *job, it tree.Item) (diag.Diagnostic, bool) {
	w, ok := states[it.State]
	if it.Dir {
		w.text, w.hint = "is a directory where a file is planned", "move it away: --force removes no directory"
	}
	if it.Foreign {
		w.text, w.hint = tree.ForeignText, "move it away, or replace it: "+regenerate+" --force"
	}
	return diag.Diagnostic{
		Severity: w.severity, Code: it.State.String(), Text: w.text, Hint: w.hint,
		Pos: diag.Pos{File: j.name(it.Path)},
	}, ok
}

// manyForeign counts the files of others by the path of a target that they stand
// below, where they are too many to be named.
func (j *job) manyForeign(report *tree.Report) map[string]int {
	counts := map[string]int{}
	for _, it := range report.Of(tree.Untracked) {
		counts[j.pathAbove(it.Path)]++
	}
	maps.DeleteFunc(counts, func(_ string, count int) bool { return count <= maxForeign })
	return counts
}

// pathAbove gives the deepest path of a target that a file stands below, or "."
// for what stands below none of them.
func (j *job) pathAbove(file string) string {
	deepest := "."
	for _, t := range slices.Concat(j.config.Selected, j.config.Others) {
		if strings.HasPrefix(file, t.Path+"/") && len(t.Path) > len(deepest) {
			deepest = t.Path
		}
	}
	return deepest
}

// warnings gives what a run that writes leaves behind for its user to decide.
func warnings(j *job, report *tree.Report) []diag.Diagnostic {
	var out diag.List
	for _, it := range report.Items {
		if it.State == tree.Orphaned || it.State == tree.Modified {
			d, _ := finding(j, it)
			d.Severity = diag.Warning
			out.Add(d)
		}
	}
	return out.Sorted()
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
