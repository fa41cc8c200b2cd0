package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// portablePaths finds paths that some system does not support: names that Windows reserves,
// forbidden characters, and two names that differ only in case. Go rejects a module with such a
// path entirely.
func portablePaths(tree []File) []string {
	var found []string
	spelled := map[string]string{} // by the lower-case path, for files and their folders
	for _, f := range tree {
		if err := module.CheckFilePath(f.Path); err != nil {
			found = append(found, fmt.Sprintf("%s:1: %v", f.Path, err))
		}
		for name := f.Path; name != "."; name = path.Dir(name) {
			other, seen := spelled[strings.ToLower(name)]
			if seen && other != name {
				found = append(found, fmt.Sprintf("%s:1: differs from %s by case only", name, other))
			}
			spelled[strings.ToLower(name)] = name
		}
	}
	return found
}

// backups finds backup copies of editors and patch. In a template folder, each would become an
// output.
func backups(tree []File) []string {
	var found []string
	for _, f := range tree {
		if strings.HasSuffix(f.Path, "~") || slices.Contains([]string{".orig", ".rej", ".bak", ".swp"},
			path.Ext(f.Path)) {
			found = append(found, f.Path+":1: is a backup copy")
		}
	}
	return found
}

// outputsOfExamples finds what an example generates, unless git ignores it. A reader runs the
// example to see it, and a committed copy would be of an older release.
func outputsOfExamples(tree []File) []string {
	ignoring := map[string]bool{}
	for _, f := range tree {
		if path.Base(f.Path) == ".gitignore" {
			ignoring[path.Dir(f.Path)] = slices.Contains(strings.Split(string(f.Data), "\n"), "/generated/")
		}
	}
	var found []string
	for _, f := range tree {
		folders := strings.SplitN(f.Path, "/", 4)
		if len(folders) == 4 && folders[0] == "examples" && folders[2] == "generated" &&
			!ignoring[path.Join(folders[:2]...)] {
			found = append(found, f.Path+":1: the example generates it: add /generated/ to its .gitignore")
		}
	}
	return found
}

// binaries finds files that are not text, such as programs that a build left in the source folders.
// Fuzzing inputs may have any bytes, and hidden folders at the root belong to tools.
func binaries(tree []File) []string {
	var found, ignores []string
	for _, f := range tree {
		if f.Path == ".gitignore" {
			ignores = strings.Fields(string(f.Data))
		}
	}
	for _, f := range tree {
		isIgnored := slices.ContainsFunc(ignores, func(pattern string) bool {
			matches, _ := path.Match(pattern, path.Base(f.Path))
			return matches || pattern == "/"+f.Path
		})
		if f.Data == nil && !isIgnored && f.Path[0] != '.' && path.Base(path.Dir(f.Path)) != "corpus" {
			found = append(found, f.Path+":1: is not text")
		}
	}
	return found
}
