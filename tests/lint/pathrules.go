package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// portablePaths finds the paths that some system cannot have: names that Windows
// reserves, signs that it does not allow, and two names that differ by case only. Go
// rejects them in a module too, with all of the module.
func portablePaths(tree []File) []string {
	var found []string
	spelled := map[string]string{} // by the path in small letters, of files and of their folders
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

// backups finds copies that editors and patch leave behind. In a folder of templates
// each would become output.
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

// binaries finds files that are not text: programs that a build left beside their sources. The
// inputs of fuzzers may have any bytes, and hidden folders of the root are those of tools.
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
