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

// words are the messages of check for each state.
type words struct {
	severity   diag.Severity
	text, hint string
}

const regenerate = "dlpackgen generate"

var states = map[tree.State]words{
	tree.Missing:  {diag.Error, "is missing", regenerate},
	tree.Outdated: {diag.Error, "is out of date", regenerate},
	tree.Obsolete: {diag.Error, "is no longer generated", regenerate + " removes it"},
	tree.Modified: {diag.Error, "was edited by hand", tree.EditedHint},
	tree.Orphaned: {diag.Error, "has the banner of dlpackgen, but no lock lists it",
		"remove it, or restore the lock that lists it"},
	tree.Untracked:    {diag.Note, "is not a generated file, and is kept", ""},
	tree.LockOutdated: {diag.Error, "is missing or outdated", regenerate},
	tree.Interrupted:  {diag.Error, "is left over from an interrupted run", regenerate + " completes or undoes it"},
}

// maxForeign is the number of foreign files below one path that are listed separately. A path may
// be the root of a project, which contains many other files.
const maxForeign = 3

// findings converts a report to findings. Unchanged files have none.
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

// otherTool reports that another build wrote the lock, which may explain differences.
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

// finding returns the finding about one path, if there is one.
func finding(j *job, it tree.Item) (diag.Diagnostic, bool) {
	w, ok := states[it.State]
	if it.Instead != "" && it.State == tree.Modified {
		w.text, w.hint = fmt.Sprintf(tree.InsteadText, it.Instead), tree.AwayHint
		if it.New != nil {
			w.hint = tree.ForceHint
		}
	}
	if it.Dir {
		w.hint = tree.DirectoryHint
	}
	if it.Foreign {
		w.text, w.hint = tree.ForeignText, tree.ForceHint
	}
	return diag.Diagnostic{
		Severity: w.severity, Code: it.State.String(), Text: w.text, Hint: w.hint,
		Pos: diag.Pos{File: j.name(it.Path)},
	}, ok
}

// manyForeign counts the foreign files below each target path that has too many to list.
func (j *job) manyForeign(report *tree.Report) map[string]int {
	counts := map[string]int{}
	for _, it := range report.Of(tree.Untracked) {
		counts[j.pathAbove(it.Path)]++
	}
	maps.DeleteFunc(counts, func(_ string, count int) bool { return count <= maxForeign })
	return counts
}

// pathAbove returns the deepest target path that contains a file, or "." if none does.
func (j *job) pathAbove(file string) string {
	deepest := "."
	for _, t := range slices.Concat(j.config.Selected, j.config.Others) {
		if strings.HasPrefix(file, t.Path+"/") && len(t.Path) > len(deepest) {
			deepest = t.Path
		}
	}
	return deepest
}

// warnings returns warnings about files that a run does not touch and the user should decide about.
func warnings(j *job, report *tree.Report) []diag.Diagnostic {
	var out diag.List
	for _, it := range report.Items {
		if it.State == tree.Orphaned || it.State == tree.Modified {
			d, _ := finding(j, it)
			d.Severity = diag.Warning
			if it.Action != tree.Keep {
				d.Hint = "" // it is done
			}
			out.Add(d)
		}
	}
	return out.Sorted()
}

// name returns a path of the tree relative to the current directory.
func (j *job) name(treePath string) string {
	return filepath.Join(j.out, filepath.FromSlash(treePath))
}

// treeFailure converts an error of the tree, with its exit code.
func treeFailure(err error) error {
	var e *tree.Error
	if !errors.As(err, &e) {
		return cannot("io", "", "%v", err)
	}
	return &failure{code: e.ExitCode(), findings: e.Findings}
}
