package tree

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// want is a request made ready: valid, and every planned file by its path from
// the output directory. It knows nothing of the disk.
type want struct {
	out           string
	lock, journal string
	tool          Tool
	force, clean  bool
	files         map[string]planned
	selected      map[string]bool   // targets
	narrowed      bool              // targets that are not selected keep what they own
	roots         []string          // the selected targets' paths, sorted
	fences        map[string]bool   // the other targets' paths
	apart         map[string]string // in the output directory, but never judged: config, spec, depfile -> what it is
}

// planned is a file to be.
type planned struct {
	entry
	data []byte
	once bool // the user's as soon as it is there: the lock never lists it
}

// newWant checks a request; all that is wrong with its paths comes at once.
func newWant(req Request) (*want, error) {
	w := &want{
		out: req.Out, lock: cmp.Or(req.Lock, DefaultLock), tool: req.Tool, force: req.Force,
		files: map[string]planned{}, selected: map[string]bool{}, fences: map[string]bool{}, apart: map[string]string{},
		narrowed: req.Only || len(req.Others) > 0,
	}
	w.journal = journalName(w.lock)
	if err := w.checkWords(req); err != nil {
		return nil, err
	}
	c := &collector{want: w, folded: map[string]string{}}
	for _, t := range req.Targets {
		c.target(t)
	}
	for _, o := range req.Others {
		w.fences[path.Clean(o.Path)] = true
	}
	c.blockedByFiles()
	c.setApart(req)
	if len(c.findings) > 0 {
		return nil, &Error{Kind: c.kind, Findings: c.findings}
	}
	slices.Sort(w.roots)
	return w, nil
}

// journalName gives the journal of a lock: .NAME.journal beside NAME.lock, so
// that configs which share a directory heal each their own.
func journalName(lock string) string {
	return "." + strings.TrimSuffix(lock, ".lock") + ".journal"
}

// checkWords guards the lines of the lock against values that would break them.
func (w *want) checkWords(req Request) error {
	bad := func(format string, args ...any) *Error { return fail(KindRequest, diag.Pos{}, "", format, args...) }
	if req.Out == "" {
		return bad("no output directory is given")
	}
	for _, name := range slices.Concat(req.Inputs, []string{req.Out, req.Depfile, req.Stamp}) {
		if why := relpath.TooLong(name); why != "" {
			return bad("the path %s %s", relpath.Show(name), why)
		}
	}
	if badPath(w.lock) != "" || strings.Contains(w.lock, "/") || len(w.lock) <= len(".lock") || !strings.HasSuffix(w.lock, ".lock") {
		return bad("the lock's name must be a plain one like %s, not %q", DefaultLock, w.lock)
	}
	if !w.tool.isTool() {
		return bad("the tool needs a version without spaces and a digest in hex digits, not %q and %q", w.tool.Version, w.tool.Digest)
	}
	for _, t := range req.Targets {
		if !isWord(t.Name) || len(t.Files) > 0 && (!isWord(t.Release) || !isSum(t.SpecSHA256)) {
			return bad("target %q needs a name and a release without spaces, and the spec's sha256; it has release %q and sha256 %q", t.Name, t.Release, t.SpecSHA256)
		}
	}
	return nil
}

// at places a path of the output directory for a finding.
func (w *want) at(name string) diag.Pos {
	return diag.Pos{File: filepath.ToSlash(filepath.Join(w.out, filepath.FromSlash(name)))}
}

// owns tells whether a lock entry of that target is this run's business.
func (w *want) owns(target string) bool { return !w.narrowed || w.selected[target] }

// reserved tells the names that a run needs for itself, and what lies below
// them: a directory in the place of the lock would end every later run.
func (w *want) reserved(name string) bool {
	return slices.ContainsFunc(append(parents(name), name), func(p string) bool {
		return strings.EqualFold(p, w.lock) || strings.EqualFold(p, w.journal) || isTemp(strings.ToLower(p))
	})
}

// anInput is what want.apart says of the inputs; all else there is a side file.
const anInput = "an input of this run"

// collector gathers the planned files and what is wrong with them.
type collector struct {
	*want
	folded   map[string]string // planned paths in lower case, for disks that fold
	kind     Kind
	findings []diag.Diagnostic
}

func (c *collector) bad(kind Kind, name, hint, format string, args ...any) {
	c.kind = cmp.Or(c.kind, kind)
	c.findings = append(c.findings, finding(kind, diag.Pos{File: name}, hint, format, args...))
}

func (c *collector) target(t Target) {
	c.selected[t.Name] = true
	if why := badPath(t.Path); why != "" {
		c.bad(KindEscape, t.Path, "give a path below the output directory", "target %s: %s", t.Name, why)
		return
	}
	root := path.Clean(t.Path)
	if c.reserved(root) {
		c.bad(KindConflict, c.at(root).File, "give the target another path", "the path of target %s runs through a file that dlpackgen keeps for itself", t.Name)
		return
	}
	c.roots = append(c.roots, root)
	for _, f := range t.Files {
		if why := badPath(f.Path); why != "" {
			c.bad(KindEscape, f.Path, "", "target %s: %s", t.Name, why)
			continue
		}
		name := path.Join(t.Path, f.Path)
		e := entry{target: t.Name, release: t.Release, spec: t.SpecSHA256, sum: sum(f.Data), path: name}
		c.file(planned{entry: e, data: f.Data, once: f.Once})
	}
}

// file plans one file, unless its name is taken. Names that differ only in case
// are one name on many disks, so they are one everywhere.
func (c *collector) file(p planned) {
	const hint = "give one of the targets another path"
	lower := strings.ToLower(p.path)
	if c.reserved(p.path) {
		c.bad(KindConflict, c.at(p.path).File, hint, "target %s plans a file that dlpackgen keeps for itself", p.target)
		return
	}
	if other, taken := c.folded[lower]; taken {
		c.bad(KindConflict, c.at(p.path).File, hint, "targets %s and %s both plan this file", c.files[other].target, p.target)
		return
	}
	c.folded[lower] = p.path
	c.files[p.path] = p
}

// blockedByFiles finds files that would have to be directories as well.
func (c *collector) blockedByFiles() {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for _, dir := range parents(name) {
			if file, ok := c.folded[strings.ToLower(dir)]; ok {
				c.bad(KindConflict, c.at(name).File, "", "%s is planned as a file and as a directory", file)
			}
		}
	}
}

// setApart finds the user's files of this run in the output directory. A depfile or a
// stamp must not replace any of the others, nor stand where a directory will.
func (c *collector) setApart(req Request) {
	for _, name := range req.Inputs {
		if inside, ok := c.inside(name); ok {
			c.setAside(inside, anInput)
		}
	}
	if req.Depfile != "" && req.Stamp != "" && sameFile(req.Depfile, req.Stamp) {
		c.bad(KindConflict, req.Stamp, "give the stamp another name", "the stamp and the depfile are one file")
	}
	read := slices.Clone(req.Inputs)
	if req.Binary != "" {
		read = append(read, req.Binary)
	}
	for _, s := range req.sideFiles() {
		c.setSideApart(s, read)
	}
}

func (c *collector) setSideApart(s side, inputs []string) {
	hint := "give the " + s.what + " another name"
	for _, name := range inputs {
		if sameFile(name, s.path()) {
			c.bad(KindConflict, s.path(), hint, "the %s is an input of this run", s.what)
		}
	}
	if c.below(s.path()) {
		c.bad(KindConflict, s.path(), hint, "the output directory stands there, or below it")
	}
	if inside, ok := c.inside(s.path()); ok {
		c.setAside(inside, "the "+s.what)
		if c.reserved(inside) {
			c.bad(KindConflict, s.path(), hint, "the %s is a file that dlpackgen keeps for itself", s.what)
		}
	}
}

// setAside keeps a file of the user out of what is judged, and refuses a plan that has it.
func (c *collector) setAside(name, what string) {
	c.apart[name] = what
	lower := strings.ToLower(name)
	for _, other := range slices.Sorted(maps.Keys(c.folded)) {
		if other == lower || strings.HasPrefix(other, lower+"/") || strings.HasPrefix(lower, other+"/") {
			c.bad(KindConflict, c.at(name).File, "", "target %s plans %s, and this is %s", c.files[c.folded[other]].target, c.at(c.folded[other]).File, what)
			return
		}
	}
}

// below reports whether the output directory is, or will be, a path of the user or below it.
func (w *want) below(name string) bool {
	out, errOut := Real(w.out)
	name, err := Real(name)
	return errOut == nil && err == nil && strings.HasPrefix(fold(out)+string(filepath.Separator), fold(name)+string(filepath.Separator))
}

// makes reports whether a run makes a directory, or has planned files below it.
func (w *want) makes(dir string) bool {
	for name := range w.files {
		if slices.Contains(parents(name), dir) {
			return true
		}
	}
	return dir == "."
}

// inside gives the path of a user's file from the output directory, if it is in there. It
// compares the directories on the way, whose names may lead through links.
func (w *want) inside(name string) (string, bool) {
	out, errOut := Real(w.out)
	full, err := filepath.Abs(name)
	if err != nil || errOut != nil {
		return "", false
	}
	dir, err := Real(filepath.Dir(full))
	rest := filepath.Base(full)
	for err == nil && !sameReal(dir, out) {
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
	return filepath.ToSlash(rest), err == nil
}
