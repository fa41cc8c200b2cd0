package lint

import (
	"path"
	"regexp"
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

// included is a line that includes a file, in C and C++.
var included = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]+(["<])([^">\n]+)[">]`)

// includeFolders are the folders of templates by what stands before the names of their outputs.
var includeFolders = map[string]string{"dlpackgen/": "templates/cpp/", "dlpackgen_torch/": "templates/torch/"}

// includeCycles finds a source of templates that includes itself through others.
func includeCycles(tree []File) []string {
	graph := map[string][]string{}
	for _, f := range tree {
		if !f.within("templates") {
			continue
		}
		name := strings.TrimSuffix(f.Path, ".tmpl")
		graph[name] = nil
		for _, m := range included.FindAllStringSubmatch(string(f.Data), -1) {
			graph[name] = append(graph[name], sourceOf(name, m[1], m[2]))
		}
	}
	var found []string
	for name := range graph {
		if reaches(graph, name, name, map[string]bool{}) {
			found = append(found, name+":1: includes itself")
		}
	}
	slices.Sort(found)
	return found
}

// sourceOf returns the source that an include in a source stands for.
func sourceOf(from, quote, name string) string {
	if quote == `"` {
		return path.Join(path.Dir(from), name)
	}
	if below, ok := strings.CutPrefix(name, "dlpackgen/"); ok && path.Ext(name) == ".h" {
		return "templates/c/" + below // both targets of C and C++ have a folder of that name
	}
	for prefix, folder := range includeFolders {
		if below, ok := strings.CutPrefix(name, prefix); ok {
			return folder + below
		}
	}
	return name
}

func reaches(graph map[string][]string, from, to string, seen map[string]bool) bool {
	for _, next := range graph[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(graph, next, to, seen) {
				return true
			}
		}
	}
	return false
}
