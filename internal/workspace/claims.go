package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/order"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// Project is a config with the folders that it writes to.
type Project struct {
	Config string   // the file, as findings name it
	Out    string   // the output directory, without symbolic links
	Roots  []string // the folders of its targets, likewise
	// Files lists the files of the config, by paths like Out. It is called only for projects whose
	// folders are in folders of others.
	Files func() ([]string, error)
}

// Conflicts returns, for each project, its conflicts with the others: two configs have the same
// output directory, which contains the lock, or generate the same file. Each conflict is reported
// for both projects. Paths in findings are relative to base, a path like Out.
func Conflicts(base string, projects []Project) [][]diag.Diagnostic {
	c := &conflicts{base: base, projects: projects, found: make([]diag.List, len(projects))}
	c.sharedFolders()
	c.sharedFiles()
	all := make([][]diag.Diagnostic, len(projects))
	for i := range c.found {
		all[i] = c.found[i].Sorted()
	}
	return all
}

type conflicts struct {
	base     string
	projects []Project
	found    []diag.List
}

// sharedFolders reports configs with the same output directory, because each would delete the
// other's files as obsolete.
func (c *conflicts) sharedFolders() {
	first := map[string]int{}
	for i, p := range c.projects {
		if other, taken := first[relpath.Fold(p.Out)]; taken {
			c.report(other, i, "out", "give each config another out", "the output directory "+c.name(p.Out))
			continue
		}
		first[relpath.Fold(p.Out)] = i
	}
}

// sharedFiles reports files that two configs generate.
func (c *conflicts) sharedFiles() {
	first := map[string]int{}
	for _, i := range c.overlapping() {
		files, err := c.projects[i].Files()
		if err != nil {
			continue // it is reported when the project is processed
		}
		for _, file := range files {
			other, taken := first[relpath.Fold(file)]
			if taken && other != i && relpath.Fold(c.projects[other].Out) != relpath.Fold(c.projects[i].Out) {
				c.report(other, i, "path", "give one of the targets another path", c.name(file))
			}
			first[relpath.Fold(file)] = i
		}
	}
}

func (c *conflicts) name(path string) string {
	if rel, err := filepath.Rel(c.base, path); err == nil {
		return rel
	}
	return path
}

func (c *conflicts) report(a, b int, key, hint, what string) {
	for _, pair := range [][2]int{{a, b}, {b, a}} {
		c.found[pair[0]].Add(diag.Diagnostic{Severity: diag.Error, Code: "path-conflict",
			Pos: diag.Pos{File: c.projects[pair[0]].Config}, Hint: hint + " (" + key + ")",
			Text: what + " is also that of " + c.projects[pair[1]].Config})
	}
}

// folder is one that a project writes to.
type folder struct {
	path  string
	owner int
}

// overlapping returns the projects with a folder that is equal to, or in, a folder of another
// project. They are few, and only their files are compared.
func (c *conflicts) overlapping() []int {
	var folders []folder
	for i, p := range c.projects {
		for _, root := range p.Roots {
			folders = append(folders, folder{within(relpath.Fold(root)), i})
		}
	}
	order.By(folders, func(f folder) string { return f.path })
	var all []int
	var above []folder // those that hold the one at work
	for _, f := range folders {
		above = slices.DeleteFunc(above, func(a folder) bool { return !strings.HasPrefix(f.path, a.path) })
		for _, a := range above {
			if a.owner != f.owner {
				all = append(all, a.owner, f.owner)
			}
		}
		above = append(above, f)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// within returns the prefix of the paths of all files in a folder.
func within(folder string) string {
	const sep = string(filepath.Separator)
	return strings.TrimSuffix(folder, sep) + sep
}
