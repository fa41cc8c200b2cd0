// Package outputs lists the files of a plan for build systems: as text, JSON, a file that CMake
// includes, and a dyndep file of Ninja. It neither plans nor writes files.
package outputs

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// Version is the version of the JSON form and of the CMake variables. Removing one or changing its
// meaning increments it; adding one does not.
const Version = 1

// Kind is the use of a file in a build.
type Kind string

// The kinds. Starter files belong to the user once they exist, so no build owns them.
const (
	Header  Kind = "header"  // of C or C++
	Unit    Kind = "unit"    // C to compile into the library of the config's kernels
	Source  Kind = "source"  // other C or C++: its target's pages say how it is compiled
	Go      Kind = "go"      // compiled by the go command
	Python  Kind = "python"  // a module or its stub
	Other   Kind = "other"   // text of any other form
	Starter Kind = "starter" // written once, and its user's from then on
	Lock    Kind = "lock"
)

var kinds = map[string]Kind{
	".h": Header, ".hpp": Header, ".c": Source, ".cpp": Source, ".go": Go, ".py": Python, ".pyi": Python,
}

// Output is one file.
type Output struct {
	Path   string `json:"path"`             // slashes, as seen from the current directory
	Target string `json:"target,omitempty"` // none for the lock
	Kind   Kind   `json:"kind"`
}

// Target is one target of the plan.
type Target struct {
	Name   string `json:"name"`
	DLPack string `json:"dlpack"`
	Path   string `json:"path"` // slashes, as seen from the current directory
}

// List is the information that a build needs before a run.
type List struct {
	Version int `json:"version"`
	Files
}

// Files are the files of one config.
type Files struct {
	Out     string   `json:"out"`     // slashes, as seen from the current directory
	Inputs  []string `json:"inputs"`  // config, spec, each go.mod that was read, templates and their folders
	Targets []Target `json:"targets"` // those that are selected
	// Includes are the folders to search for headers of C and C++.
	Includes []string `json:"include_directories"`
	Outputs  []Output `json:"outputs"`
}

// Many is the lists of several configs, each of which is a separate run.
type Many struct {
	Version int      `json:"version"`
	Configs []Config `json:"configs"`
}

// Config is the list of one of several configs.
type Config struct {
	Config string `json:"config"` // the file: slashes, as seen from the current directory
	Files
}

// Of returns the list for a request.
func Of(req tree.Request) (*List, error) {
	planned, err := tree.Plan(req)
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.ToSlash(filepath.Join(req.Out, filepath.FromSlash(name))) }
	l := &List{Version, Files{Out: at("."), Inputs: []string{}, Targets: []Target{}, Includes: []string{},
		Outputs: []Output{}}}
	for _, name := range req.Inputs {
		l.Inputs = append(l.Inputs, filepath.ToSlash(name))
	}
	for _, p := range planned {
		l.Outputs = append(l.Outputs, Output{Path: at(p.Path), Target: p.Target, Kind: kindOf(p)})
	}
	for _, t := range req.Targets {
		l.Targets = append(l.Targets, Target{Name: t.Name, DLPack: t.Release, Path: at(t.Path)})
		if dir := at(t.Path); l.has(t.Name, Header) && !l.has(t.Name, Go) && !slices.Contains(l.Includes, dir) {
			l.Includes = append(l.Includes, dir)
		}
	}
	return l, nil
}

func kindOf(p tree.Planned) Kind {
	switch kind, known := kinds[path.Ext(p.Path)]; {
	case p.Target == "":
		return Lock
	case p.File.Once:
		return Starter
	case p.File.Unit:
		return Unit
	case known:
		return kind
	}
	return Other
}

func (l *List) has(target string, kind Kind) bool {
	return slices.ContainsFunc(l.Outputs, func(o Output) bool { return o.Target == target && o.Kind == kind })
}

// paths returns the files of the given kinds. Without kinds, it returns all files that a run owns.
func (l *List) paths(some ...Kind) []string {
	var out []string
	for _, o := range l.Outputs {
		if slices.Contains(some, o.Kind) || len(some) == 0 && o.Kind != Starter {
			out = append(out, o.Path)
		}
	}
	return out
}
