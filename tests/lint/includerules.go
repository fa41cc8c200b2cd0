package lint

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// includeFolders are the folders of templates by what stands before the names of their outputs.
var includeFolders = map[string]string{"dlpackgen/": "templates/cpp/", "dlpackgen_torch/": "templates/torch/"}

// includePath is where compilers search for the headers of gen/ and backends/.
var includePath = []string{"gen/c", "gen/cpp"}

// includeCycles finds what includes itself through others, in the templates and in what is made of
// them: a file, a C source with its headers, or a folder.
func includeCycles(tree []File) []string {
	templates, outputs := includers{}, includers{}
	for _, f := range tree {
		switch {
		case f.within("templates"):
			templates[strings.TrimSuffix(f.Path, ".tmpl")] = f
		case f.within("gen", "backends"):
			outputs[f.Path] = f
		}
	}
	return append(templates.cycles(templates.templateOf), outputs.cycles(outputs.outputOf)...)
}

// includers are files by the names that others include them by.
type includers map[string]File

// cycles finds those that lead to themselves; find gives the file of an include.
func (all includers) cycles(find func(from string, in include) string) []string {
	files, units, folders := graph{}, graph{}, graph{}
	changed := all.changed()
	for from, f := range all {
		for _, in := range includesOf(f.Data, changed) {
			to := find(from, in)
			if _, known := all[to]; !known {
				continue
			}
			files.add(from, to, in.when, true)
			units.add(strings.TrimSuffix(from, path.Ext(from)), strings.TrimSuffix(to, path.Ext(to)), in.when, false)
			folders.add(path.Dir(from), path.Dir(to), in.when, false)
		}
	}
	return slices.Concat(files.cycles(), units.cycles(), folders.cycles())
}

// templateOf gives the source that an include in a template stands for: one beside it, or the only
// one of that name.
func (all includers) templateOf(from string, in include) string {
	if below, ok := strings.CutPrefix(in.name, "dlpackgen/"); ok && path.Ext(in.name) == ".h" {
		return "templates/c/" + below // both targets of C and C++ have a folder of that name
	}
	for prefix, folder := range includeFolders {
		if below, ok := strings.CutPrefix(in.name, prefix); ok {
			return folder + below
		}
	}
	beside := path.Join(path.Dir(from), in.name)
	if _, ok := all[beside]; ok || !in.quoted {
		return beside
	}
	var named []string
	for name := range all {
		if path.Base(name) == path.Base(in.name) {
			named = append(named, name)
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	return beside
}

// outputOf gives the file that a compiler includes: one beside it, or one of the include path.
func (all includers) outputOf(from string, in include) string {
	candidates := includePath
	if in.quoted {
		candidates = append([]string{path.Dir(from)}, includePath...)
	}
	for _, folder := range candidates {
		if _, ok := all[path.Join(folder, in.name)]; ok {
			return path.Join(folder, in.name)
		}
	}
	return ""
}

// changed are the macros that an included file defines or undefines, as guards: whether one is
// defined can differ from one include to the next.
func (all includers) changed() map[string]bool {
	names, macros := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		for _, in := range includesOf(f.Data, nil) {
			names[path.Base(in.name)] = true
		}
	}
	for name, f := range all {
		if names[path.Base(name)] {
			for _, m := range definition.FindAllSubmatch(f.Data, -1) {
				macros[string(m[1])] = true
			}
		}
	}
	return macros
}

// include is a line that includes a file, and the macros that must be defined for it, or must not.
type include struct {
	name   string
	quoted bool
	when   conditions
}

// conditions tell of macros whether they are defined.
type conditions map[string]bool

var (
	preprocessor = regexp.MustCompile(`^[ \t]*#[ \t]*(\w+)[ \t]*(.*)`)
	definition   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)`)
	included     = regexp.MustCompile(`^(["<])([^">]+)[">]`)
)

// includesOf gives those of a source. Conditions on macros that change are left out, and so are
// terms of #if: the include may happen.
func includesOf(source []byte, changed map[string]bool) (found []include) {
	var open []conditions // of each #if that is not closed
	for line := range strings.Lines(string(source)) {
		m := preprocessor.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		macro, _, _ := strings.Cut(strings.TrimSpace(m[2]), " ")
		last := len(open) - 1
		switch m[1] {
		case "ifdef", "ifndef":
			open = append(open, conditions{})
			if !changed[macro] {
				open[last+1][macro] = m[1] == "ifdef"
			}
		case "if":
			open = append(open, conditions{})
		case "else", "elif":
			if last >= 0 {
				open[last] = open[last].otherwise(m[1])
			}
		case "endif":
			open = open[:max(last, 0)]
		case "include":
			if at := included.FindStringSubmatch(m[2]); at != nil {
				found = append(found, include{at[2], at[1] == `"`, together(open)})
			}
		}
	}
	return found
}

// otherwise gives what holds after #else; the term of #elif is left out with all before it.
func (c conditions) otherwise(directive string) conditions {
	other := conditions{}
	for macro, defined := range c {
		if directive == "else" {
			other[macro] = !defined
		}
	}
	return other
}

// together gives what all say.
func together(open []conditions) conditions {
	all := conditions{}
	for _, c := range open {
		maps.Copy(all, c)
	}
	return all
}

// with adds more conditions; ok is false for two that contradict each other.
func (c conditions) with(more conditions) (both conditions, ok bool) {
	for macro, defined := range more {
		if already, known := c[macro]; known && already != defined {
			return nil, false
		}
	}
	return together([]conditions{c, more}), true
}

// graph has what each node leads to.
type graph map[string][]edge

type edge struct {
	to   string
	when conditions
}

// add adds an edge; one from a node to itself only where loops count.
func (g graph) add(from, to string, when conditions, loops bool) {
	if from != to || loops {
		g[from] = append(g[from], edge{to, when})
	}
}

// cycles are the nodes that lead to themselves.
func (g graph) cycles() (found []string) {
	for node := range g {
		if g.reaches(node, node, conditions{}, map[string]bool{}) {
			found = append(found, node+":1: includes itself")
		}
	}
	slices.Sort(found)
	return found
}

// reaches tells whether edges whose conditions hold together lead from one node to the other.
func (g graph) reaches(from, to string, when conditions, seen map[string]bool) bool {
	for _, next := range g[from] {
		both, ok := when.with(next.when)
		if !ok {
			continue
		}
		if next.to == to {
			return true
		}
		if at := fmt.Sprint(next.to, both); !seen[at] { // maps are printed in order
			seen[at] = true
			if g.reaches(next.to, to, both, seen) {
				return true
			}
		}
	}
	return false
}
