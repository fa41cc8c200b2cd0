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

// includeCycles finds what includes itself through others: a source of templates, a C source with
// its headers, or a folder of templates.
func includeCycles(tree []File) []string {
	sources := map[string][]string{} // by the names of files alone
	for _, f := range tree {
		if f.within("templates") {
			name := strings.TrimSuffix(f.Path, ".tmpl")
			sources[path.Base(name)] = append(sources[path.Base(name)], name)
		}
	}
	files, units, folders := graph{}, graph{}, graph{}
	for _, f := range tree {
		if !f.within("templates") {
			continue
		}
		from := strings.TrimSuffix(f.Path, ".tmpl")
		for _, m := range included.FindAllStringSubmatch(string(f.Data), -1) {
			to := sourceOf(sources, from, m[1], m[2])
			if !slices.Contains(sources[path.Base(to)], to) {
				continue
			}
			files.add(from, to, true)
			units.add(strings.TrimSuffix(from, path.Ext(from)), strings.TrimSuffix(to, path.Ext(to)), false)
			folders.add(path.Dir(from), path.Dir(to), false)
		}
	}
	return slices.Concat(files.cycles(), units.cycles(), folders.cycles())
}

// graph has what each node leads to.
type graph map[string][]string

// add adds an edge; one from a node to itself only where loops count.
func (g graph) add(from, to string, loops bool) {
	if from != to || loops {
		g[from] = append(g[from], to)
	}
}

// cycles are the nodes that lead to themselves.
func (g graph) cycles() (found []string) {
	for node := range g {
		if g.reaches(node, node, map[string]bool{}) {
			found = append(found, node+":1: includes itself")
		}
	}
	slices.Sort(found)
	return found
}

// sourceOf returns the source that an include in a source stands for: one beside it, or the only
// one of that name.
func sourceOf(sources map[string][]string, from, quote, name string) string {
	if below, ok := strings.CutPrefix(name, "dlpackgen/"); ok && path.Ext(name) == ".h" {
		return "templates/c/" + below // both targets of C and C++ have a folder of that name
	}
	for prefix, folder := range includeFolders {
		if below, ok := strings.CutPrefix(name, prefix); ok {
			return folder + below
		}
	}
	if quote != `"` {
		return name
	}
	beside := path.Join(path.Dir(from), name)
	if all := sources[path.Base(name)]; len(all) == 1 && !slices.Contains(all, beside) {
		return all[0]
	}
	return beside
}

func (g graph) reaches(from, to string, seen map[string]bool) bool {
	for _, next := range g[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if g.reaches(next, to, seen) {
				return true
			}
		}
	}
	return false
}
