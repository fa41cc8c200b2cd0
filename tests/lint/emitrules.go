package lint

import (
	"slices"
	"strings"
)

// emitters is where the targets live; what they share, and what lists them, stands beside.
const (
	emitters  = "internal/emit/"
	table     = "internal/targets"
	ourModule = "github.com/dlpackgen/dlpackgen/"
)

// rows finds the packages that the table of targets lists, and so imports.
func rows(tree []File) []string {
	var found []string
	for _, f := range written(tree, false) {
		imports([]File{f}, func(f File, name string) bool {
			if f.within(table) && strings.HasPrefix(name, ourModule+emitters) {
				found = append(found, name)
			}
			return false
		})
	}
	return found
}

// siblingImports wants what two targets share in the engine or in a package that is no
// target: a target that another builds on cannot change alone.
func siblingImports(tree []File) []string {
	all := rows(tree)
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within(strings.TrimSuffix(emitters, "/")) && slices.Contains(all, name)
	})
}

// configImports wants the table of targets to be given to the config.
func configImports(tree []File) []string {
	all := append(rows(tree), ourModule+table)
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within("internal/config") && slices.Contains(all, name)
	})
}

// diskReads wants what the disk says, as a go.mod does, in the model: the same model gives
// the same files.
func diskReads(tree []File) []string {
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within(strings.TrimSuffix(emitters, "/")) && slices.Contains([]string{"os", "io/ioutil",
			"path/filepath", "syscall"}, name)
	})
}
