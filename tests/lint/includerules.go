package lint

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// includeFolders are the folders of templates, by the prefix of their output names.
var includeFolders = map[string]string{"dlpackgen/": "templates/cpp/", "dlpackgen_torch/": "templates/torch/"}

// includePath is the compilers' include path for gen/ and backends/.
var includePath = []string{"gen/c", "gen/cpp"}

// includeCycles finds include cycles in the templates and in their outputs: of a file, of a C
// source with its headers, or of a folder.
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

// includers are files by the names with which others include them.
type includers map[string]File

// cycles returns the files in a cycle; find returns the file of an include.
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

// templateOf returns the source for an include in a template: in the same folder, or the only one
// of that name.
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

// outputOf returns the file that a compiler includes: from the same folder, or from the include
// path.
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

// changed are the macros that an included file defines or undefines, like guards: their state can
// differ between includes.
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

// include is a line that includes a file, and the macros that must be defined, or undefined, for
// it.
type include struct {
	name   string
	quoted bool
	when   conditions
}

// conditions contains whether each macro is defined.
type conditions map[string]bool

var (
	preprocessor = regexp.MustCompile(`^[ \t]*#[ \t]*(\w+)[ \t]*(.*)`)
	definition   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)`)
	included     = regexp.MustCompile(`^(["<])([^">]+)[">]`)
)

// includesOf returns the includes of a source. Conditions on macros that change are omitted, and so
// are terms of #if: the include is possible.
func includesOf(source []byte, changed map[string]bool) (found []include) {
	var open []conditions // of each open #if
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

// otherwise returns the conditions after #else; the term of #elif is omitted with all earlier ones.
func (c conditions) otherwise(directive string) conditions {
	other := conditions{}
	for macro, defined := range c {
		if directive == "else" {
			other[macro] = !defined
		}
	}
	return other
}

// together combines conditions.
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

// graph contains the successors of each node.
type graph map[string][]edge

type edge struct {
	to   string
	when conditions
}

// add adds an edge; an edge from a node to itself only if loops count.
func (g graph) add(from, to string, when conditions, loops bool) {
	if from != to || loops {
		g[from] = append(g[from], edge{to, when})
	}
}

// cycles returns the nodes that can reach themselves.
func (g graph) cycles() (found []string) {
	for node := range g {
		if g.reaches(node, node, conditions{}, map[string]bool{}) {
			found = append(found, node+":1: includes itself")
		}
	}
	slices.Sort(found)
	return found
}

// reaches reports whether compatible edges lead from one node to the other.
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
