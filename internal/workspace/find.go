// Package workspace finds the configs of a repository and the conflicts between them, and processes
// them concurrently. It reads no config and writes nothing.
package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Below is the suffix of a pattern that matches every config below a folder, as in the go command.
const Below = "..."

// IsPattern reports whether an argument of the command line is a pattern: ./..., or DIR/....
func IsPattern(arg string) bool {
	return arg == Below || filepath.Base(arg) == Below
}

// Find returns the files of that name below the folders of the patterns, sorted and without
// duplicates. A folder that cannot be read causes a finding; the others are still searched.
func Find(name string, patterns []string) (files []string, findings []diag.Diagnostic) {
	var found diag.List
	for _, pattern := range patterns {
		f := finder{name: name, found: &found}
		root := filepath.Clean(strings.TrimSuffix(pattern, Below))
		f.folder(root)
		if len(f.files) == 0 && !found.Failed() {
			found.Add(diag.Diagnostic{Severity: diag.Error, Code: "no-config", Pos: diag.Pos{File: pattern},
				Text: "there is no " + name + " in this folder or below it",
				Hint: "these folders are not searched: " + notSearched()})
		}
		files = append(files, f.files...)
	}
	slices.Sort(files)
	return slices.Compact(files), found.Sorted()
}

// finder walks the folders of one pattern.
type finder struct {
	name  string
	files []string
	found *diag.List
}

// folder searches a folder and its subfolders. Links to folders are not followed: their targets are
// found at their own paths, or are outside of the search.
func (f *finder) folder(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.unreadable(dir, err)
		return
	}
	for _, e := range entries {
		inner := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && !skipped(e.Name()):
			f.folder(inner)
		case e.Name() == f.name && !e.IsDir():
			f.files = append(f.files, inner)
		}
	}
}

func (f *finder) unreadable(dir string, err error) {
	if errors.Is(err, fs.ErrNotExist) && f.files != nil {
		return // it went away after its parent was listed
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	hint := "pass another folder"
	if errors.Is(err, fs.ErrPermission) {
		hint = "grant this user access to it, or search other folders: DIR/..."
	}
	f.found.Add(diag.Diagnostic{Severity: diag.Error, Code: "unreadable", Pos: diag.Pos{File: dir}, Text: err.Error(),
		Hint: hint})
}

// notEntered are the names of skipped folders: hidden ones, those that the go command skips, and
// npm packages. Each is a pattern of path.Match.
var notEntered = []string{".*", "_*", "node_modules", "testdata", "vendor"}

// skipped reports whether a folder of that name is skipped.
func skipped(name string) bool {
	return slices.ContainsFunc(notEntered, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return matched && err == nil
	})
}

// notSearched describes the skipped folders for messages.
func notSearched() string { return strings.Join(notEntered, ", ") + ", and links" }
