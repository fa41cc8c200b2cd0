package tree

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// want is a validated request, with every planned file by its path relative to the output
// directory. It does not depend on the disk.
type want struct {
	out           string
	lock, journal string
	tool          Tool
	force, clean  bool
	sumsAlone     bool // the lock may be of a newer version, because only its files are used
	files         map[string]planned
	selected      map[string]bool // targets
	narrowed      bool            // targets that are not selected keep what they own
	roots         []string        // the selected targets' paths, sorted
	fences        []string        // the other targets' paths
	inputs        []string        // config, spec and program, as the user named them
	sides         []side
	stop          <-chan struct{}
}

// planned is a planned file.
type planned struct {
	entry
	data []byte
	once bool // belongs to the user once it exists: the lock never lists it
	// defines are the functions of a starter file, which is not created if another file defines one
	// of them.
	defines []string
}

// newWant validates a request, and reports all problems of its paths at once.
func newWant(req Request) (*want, error) {
	w := &want{
		out: req.Out, stop: req.Stop, lock: cmp.Or(req.Lock, DefaultLock), tool: req.Tool, force: req.Force,
		inputs: slices.Clone(req.Inputs),
		files:  map[string]planned{}, selected: map[string]bool{}, narrowed: req.Only || len(req.Others) > 0,
	}
	w.journal = journalOf(w.lock)
	if req.Binary != "" && req.Depfile+req.Stamp != "" {
		w.inputs = append(w.inputs, req.Binary)
	}
	if err := w.checkWords(req); err != nil {
		return nil, err
	}
	for _, o := range req.Others {
		w.fences = append(w.fences, path.Clean(o.Path))
	}
	c := &collector{want: w, folded: map[string]string{}}
	for _, t := range req.Targets {
		c.target(t)
	}
	c.blockedByFiles()
	if len(c.Findings) > 0 {
		return nil, &c.Error
	}
	slices.Sort(w.roots)
	var err error
	w.sides, err = w.sideFiles(req)
	return w, err
}

// journalOf returns .NAME.journal for NAME.lock: configs that share a directory have separate
// journals.
func journalOf(lock string) string { return "." + strings.TrimSuffix(lock, ".lock") + ".journal" }

// Records returns the names of the lock and the journal of a run, for Request.Lock.
func Records(lock string) []string {
	lock = cmp.Or(lock, DefaultLock)
	return []string{lock, journalOf(lock)}
}

// checkWords rejects values that would break the lines of the lock.
func (w *want) checkWords(req Request) error {
	bad := func(format string, args ...any) *Error { return fail(KindRequest, diag.Pos{}, "", format, args...) }
	if req.Out == "" {
		return bad("no output directory is given")
	}
	if req.DepfileOutputs && (req.Depfile == "" || req.Stamp == "") {
		return bad("outputs in the depfile need a depfile and a stamp")
	}
	for _, name := range slices.Concat(req.Inputs, []string{req.Out, req.Depfile, req.Stamp}) {
		if why := relpath.TooLong(name); why != "" {
			return bad("the path %s %s", relpath.Show(name), why)
		}
	}
	if badPath(w.lock) != "" || strings.Contains(w.lock,
		"/") || len(w.lock) <= len(".lock") || !strings.HasSuffix(w.lock, ".lock") {
		return bad("the lock's name must be a plain file name like %s, not %q", DefaultLock, w.lock)
	}
	if !w.tool.isTool() {
		return bad("the tool needs a version without spaces and a digest in hex digits, not %q and %q",
			w.tool.Version, w.tool.Digest)
	}
	for _, t := range req.Targets {
		if !isWord(t.Name) || len(t.Files) > 0 && (!isWord(t.Release) || !isSum(t.SpecSHA256)) {
			return bad("target %q needs a name and a release without spaces, and the spec's sha256; it has "+
				"release %q and sha256 %q",
				t.Name, t.Release, t.SpecSHA256)
		}
	}
	return nil
}

// stopped returns the error of a cancelled run that has changed no file.
func (w *want) stopped() error {
	select {
	case <-w.stop:
		return fail(KindStopped, w.at("."), "run it again", "the run was interrupted before it changed a file")
	default:
		return nil
	}
}

// at returns the position of a path in the output directory, for a finding.
func (w *want) at(name string) diag.Pos {
	return diag.Pos{File: filepath.ToSlash(filepath.Join(w.out, filepath.FromSlash(name)))}
}

// owns reports whether a lock entry of that target belongs to this run.
func (w *want) owns(target string) bool { return !w.narrowed || w.selected[target] }

// reserved reports whether a path is a name that a run needs for itself, or below one. For example,
// a directory at the path of the lock would make every later run fail.
func (w *want) reserved(name string) bool {
	lock, journal := relpath.Fold(w.lock), relpath.Fold(w.journal)
	return slices.ContainsFunc(append(parents(name), name), func(p string) bool {
		folded := relpath.Fold(p)
		return folded == lock || folded == journal || isTemp(strings.ToLower(p))
	})
}

// collector collects the planned files and their findings.
type collector struct {
	*want
	Error
	folded map[string]string // planned paths in one case, for file systems that ignore case
}

func (c *collector) bad(kind Kind, name, hint, format string, args ...any) {
	c.Kind = cmp.Or(c.Kind, kind)
	c.Findings = append(c.Findings, finding(kind, diag.Pos{File: name}, hint, format, args...))
}

func (c *collector) target(t Target) {
	c.selected[t.Name] = true
	if why := badPath(t.Path); why != "" {
		c.bad(KindEscape, t.Path, "use a path below the output directory", "target %s: %s", t.Name, why)
		return
	}
	root := path.Clean(t.Path)
	if c.reserved(root) {
		c.bad(KindConflict, c.at(root).File, "choose another path for the target",
			"the path of target %s contains a file name that dlpackgen reserves", t.Name)
		return
	}
	c.roots = append(c.roots, root)
	for _, f := range t.Files {
		if why := badPath(f.Path); why != "" {
			c.bad(KindEscape, f.Path, "", "target %s: %s", t.Name, why)
			continue
		}
		e := entry{target: t.Name, release: t.Release, spec: t.SpecSHA256, sum: sum(f.Data),
			path: path.Join(t.Path, f.Path)}
		c.file(planned{entry: e, data: f.Data, once: f.Once, defines: f.Defines})
	}
}

// file plans one file, unless its name is already used. Names with the same relpath.Fold are one
// name on many file systems, so they conflict on all.
func (c *collector) file(p planned) {
	other, taken := c.folded[relpath.Fold(p.path)]
	switch {
	case c.reserved(p.path):
		c.bad(KindConflict, c.at(p.path).File, oneElsewhere, "target %s plans a file that dlpackgen reserves", p.target)
	case taken:
		c.twice(p, c.files[other])
	default:
		c.folded[relpath.Fold(p.path)] = p.path
		c.files[p.path] = p
	}
}

// twice reports two planned files with the same name.
func (c *collector) twice(p, other planned) {
	text, hint := fmt.Sprintf("targets %s and %s both plan this file", other.target, p.target), oneElsewhere
	if p.target == other.target {
		text, hint = fmt.Sprintf("target %s plans this file twice", p.target), "rename one of the two"
	}
	if p.path != other.path {
		text += ": " + c.at(other.path).File + " is the same file " + relpath.Where(p.path, other.path)
	}
	c.bad(KindConflict, c.at(p.path).File, hint, "%s", text)
}

// blockedByFiles finds planned files at paths that must be directories. A target is reported once
// for each such file, however many of its files are below it.
func (c *collector) blockedByFiles() {
	reported := map[[2]string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for _, dir := range parents(name) {
			file, ok := c.folded[relpath.Fold(dir)]
			pair := [2]string{file, c.files[name].target}
			if !ok || reported[pair] {
				continue
			}
			reported[pair] = true
			owner, hint := c.files[file].target, oneElsewhere
			if owner == pair[1] {
				hint = "rename the file or the folder"
			}
			c.bad(KindConflict, c.at(file).File, hint,
				"is planned as a file by target %s, and as a directory by target %s, for %s", owner, pair[1],
				c.at(name).File)
		}
	}
}
