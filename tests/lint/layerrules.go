package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// layerPage has the table of packages, from the lowest layer to the command.
const layerPage = "docs/architecture.md"

// layerRow is a row of that table, which begins with the folder of a package or of other sources.
var layerRow = regexp.MustCompile("(?m)^\\| `([\\w/]+)` \\|")

// layered are the folders whose packages the table must list.
var layered = []string{"cmd", "internal", "spec"}

// layers gives the folders in the order of the table.
func layers(tree []File) (all []string) {
	for _, f := range tree {
		if f.Path == layerPage {
			for _, row := range layerRow.FindAllSubmatch(f.Data, -1) {
				all = append(all, string(row[1]))
			}
		}
	}
	return all
}

// upwardImports wants each package in the table, and what it imports above it: a reader meets
// nothing that is explained later, and a change reaches only what is below.
func upwardImports(tree []File) []string {
	all := layers(tree)
	files := slices.DeleteFunc(written(tree, false), func(f File) bool {
		return !f.within(layered...)
	})
	var missing []string
	for _, f := range files {
		if folder := path.Dir(f.Path); !slices.Contains(all, folder) {
			missing = append(missing, fmt.Sprintf("%s: %s has no row in %s", f.Path, folder, layerPage))
		}
	}
	return append(missing, imports(files, func(f File, name string) bool {
		imported, isOurs := strings.CutPrefix(name, ourModule)
		layer := slices.Index(all, imported)
		return isOurs && (layer < 0 || layer >= slices.Index(all, path.Dir(f.Path)))
	})...)
}
