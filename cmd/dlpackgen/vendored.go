package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// vendoredWords are the messages of verify for the files of a vendored folder.
var vendoredWords = map[tree.State]words{
	tree.Missing:  {diag.Error, "is in the lock, but missing", "vendor the files and the lock together"},
	tree.Modified: {diag.Error, "differs from the file in the lock", "undo the change, or vendor again"},
	tree.Orphaned: {diag.Error, "is a generated file that the lock does not list",
		"restore the line in the lock if it was removed, or vendor again; remove the file if it is from another copy"},
	tree.Untracked: {diag.Error, "is not in the lock; expected only the lock and what it lists",
		"remove it, or keep it outside of the vendored folder"},
	tree.Interrupted: {diag.Error, "is left over from an interrupted run", "vendor again"},
}

// vendoredFinding returns the finding of verify about one path, if there is one.
func vendoredFinding(out string, it tree.Item) (diag.Diagnostic, bool) {
	w, bad := vendoredWords[it.State]
	if it.Dir && it.State == tree.Untracked {
		w.text = "is a folder without a file of the lock; expected only the lock and what it lists"
	}
	if it.Note {
		w = words{diag.Note, "is not in the lock", ""}
	}
	if it.Why != "" {
		w.text += ": " + it.Why
	}
	return diag.Diagnostic{Severity: w.severity, Code: it.State.String(), Text: w.text, Hint: w.hint,
		Pos: diag.Pos{File: filepath.Join(out, filepath.FromSlash(it.Path))}}, bad
}

// vendoredAlone rejects flags about headers, because files are compared only with their lock.
func vendoredAlone(cmd *cobra.Command, place string, args []string) error {
	if place == "" {
		return cannot("usage", "--vendored DIR", "--vendored names no folder")
	}
	for _, flag := range []string{"header", "dlpack", "cc", "lang"} {
		if cmd.Flags().Changed(flag) {
			return cannot("usage", "omit one of them, or run verify twice",
				"--%s applies to headers, so it cannot be used with --vendored", flag)
		}
	}
	if len(args) > 0 {
		return cannot("usage", "remove "+args[0], "--vendored runs no compiler, so it takes no flags after --")
	}
	return nil
}

// verifyVendored compares a folder of generated files with its lock, without a config.
func (a *app) verifyVendored(format *choice, place string) error {
	out, lock := place, ""
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		out, lock = filepath.Dir(place), filepath.Base(place)
		if filepath.Ext(lock) != ".lock" {
			return cannot("usage", "pass the folder that contains the lock, or the lock", "%s is not a lock", place)
		}
	} else if err != nil {
		return cannot("unreadable", "pass the folder that contains the lock, or the lock", "%v", err)
	}
	report, err := tree.Verify(tree.Request{Out: out, Lock: lock, Tool: self()})
	if err != nil {
		return treeFailure(err)
	}
	var found diag.List
	listed := 0
	for _, it := range report.Items {
		if it.Target != "" {
			listed++
		}
		if d, bad := vendoredFinding(out, it); bad {
			found.Add(d)
		}
	}
	if format.value == "text" {
		a.say("compared %s with its lock: %d files by dlpackgen %s", out, listed, report.Writer.Version)
	}
	return a.report(format, found.Sorted())
}
