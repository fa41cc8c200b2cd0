package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// layerPage contains the table of packages, from the lowest layer to the command.
const layerPage = "docs/architecture.md"

// layerRow matches a row of that table, which begins with the folder of a package or of other
// sources.
var layerRow = regexp.MustCompile("(?m)^\\| `([\\w/]+)` \\|")

// layered are the folders whose packages the table must list.
var layered = []string{"cmd", "internal", "spec"}

// layers returns the folders in the order of the table.
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

// upwardImports requires each package in the table, below its imports: readers find only explained
// packages, and a change affects only the packages below.
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
