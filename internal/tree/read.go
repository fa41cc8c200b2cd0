package tree

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// Limits of what is read. A file of ours is far smaller than maxFile; a larger
// one at its path is somebody else's. The banner is in the first line.
const (
	maxFile = 64 << 20
	headLen = 1 << 10
)

// found is what stands at a path.
type found struct {
	sum    string // none: nothing is there; "": no regular file, or one too large to be ours
	data   []byte // nil unless there is a sum of a file
	perm   fs.FileMode
	dir    bool
	banner bool
}

// snapshot is all that a run knows of the output directory; the plan is a
// function of it.
type snapshot struct {
	lockText    []byte // after CRLF to LF; nil where there is none
	lock        record
	journal     record
	interrupted bool              // there is a journal
	records     map[string]bool   // locks and journals of any config, by name
	siblings    map[string]string // path -> the lock of another config that owns it
	files       map[string]found  // every path of the plan, the lock and the journal
	extra       map[string]bool   // other files in the selected targets' paths -> has our banner
	temps       []string          // temporaries, which nobody needs under the guard
	dirs        map[string]bool   // directories that planned files need -> exist
}

// reader fills a snapshot.
type reader struct {
	*snapshot
	want *want
	disk disk
}

// readSnapshot reads the output directory. Nothing is written.
func readSnapshot(w *want, d disk) (*snapshot, error) {
	r := &reader{want: w, disk: d, snapshot: &snapshot{
		records: map[string]bool{}, siblings: map[string]string{}, files: map[string]found{}, extra: map[string]bool{}, dirs: map[string]bool{},
	}}
	for _, step := range []func() error{r.readTop, r.checkOwners, r.readFiles, r.scanRoots} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.snapshot, nil
}

// readTop reads the records and temporaries at the top of the output directory.
func (r *reader) readTop() error {
	entries, err := r.disk.ReadDir(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(r.want.at("."), err)
	}
	for _, e := range entries {
		if isTemp(e.Name()) {
			r.temps = append(r.temps, e.Name())
		}
		if err := r.readRecord(e); err != nil {
			return err
		}
	}
	return nil
}

// readRecord reads a lock or journal, ours or a sibling's; other tools' locks
// are passed over.
func (r *reader) readRecord(e fs.DirEntry) error {
	name := e.Name()
	mark := markOf(name)
	ours := name == r.want.lock || name == r.want.journal
	if mark == "" {
		return nil
	}
	if marked, err := r.hasMark(name, e, mark); err != nil || !marked && !ours {
		return err
	}
	if !e.Type().IsRegular() {
		return fail(KindConflict, r.want.at(name), "move it away", "this must be a regular file")
	}
	data, err := readAll(r.disk, name, maxRecord)
	if err != nil {
		return failed(r.want.at(name), err)
	}
	rec, bad := parse(mark, r.want.at(name).File, data)
	if bad != nil {
		return bad
	}
	return r.keep(name, data, rec)
}

// keep puts a record where it belongs.
func (r *reader) keep(name string, data []byte, rec record) error {
	r.records[name] = true
	if name != r.want.lock && name != r.want.journal {
		for p := range rec.changes {
			r.siblings[p] = name
		}
		return nil
	}
	if compareVersions(rec.tool, r.want.tool) > 0 {
		return fail(KindNewer, diag.Pos{File: r.want.at(name).File, Line: 1, Col: 1}, installHint(rec.tool),
			"dlpackgen %s wrote this file; this is %s", rec.tool, r.want.tool)
	}
	if name == r.want.lock {
		r.lock, r.lockText = rec, toLF(data)
	} else {
		r.journal, r.interrupted = rec, true
	}
	return nil
}

// markOf gives the first word of the record that a name belongs to, or "".
func markOf(name string) string {
	switch {
	case strings.HasSuffix(name, ".lock"):
		return lockMark
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".journal"):
		return journalMark
	}
	return ""
}

// hasMark looks into a file that may be a record of ours.
func (r *reader) hasMark(name string, e fs.DirEntry, mark string) (bool, error) {
	if !e.Type().IsRegular() {
		return false, nil
	}
	head, err := readAll(r.disk, name, headLen)
	if err != nil {
		return false, failed(r.want.at(name), err)
	}
	return strings.HasPrefix(string(head), mark+" "), nil
}

// checkOwners refuses planned files that belong to somebody else.
func (r *reader) checkOwners() error {
	out := &Error{Kind: KindConflict}
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		if lock, ok := r.siblings[p]; ok {
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p),
				"give the target another path, or run the other config first if it no longer plans the file",
				"%s says that this file belongs to another config", lock))
			continue
		}
		if e, ok := r.lock.changes[p]; ok && !r.want.owns(e.target) {
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p), "run without --only",
				"target %s plans this file, but the lock says that it belongs to %s", r.want.files[p].target, e.target))
		}
	}
	if len(out.Findings) > 0 {
		return out
	}
	return nil
}

// readFiles looks at every path that the plan, the lock or the journal names.
func (r *reader) readFiles() error {
	names := map[string]bool{}
	for p := range r.want.files {
		names[p] = true
	}
	for p, e := range r.lock.changes {
		names[p] = names[p] || r.want.owns(e.target)
	}
	for p := range r.journal.changes {
		names[p] = true
	}
	for _, p := range slices.Sorted(maps.Keys(names)) {
		if _, sibling := r.siblings[p]; sibling || !names[p] {
			continue
		}
		if err := r.readFile(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readFile(name string) error {
	f, err := look(r.disk, name)
	if err != nil {
		return failed(r.want.at(name), err)
	}
	plan, isPlanned := r.want.files[name]
	if f.sum == plan.sum {
		f.data = nil // nobody asks for the difference
	}
	r.files[name] = f
	if !isPlanned {
		return nil
	}
	if f.sum == none {
		return r.readParents(name)
	}
	return nil
}

// orClean is the way out where a release has turned a file into a directory, or
// a directory into a file.
const orClean = "if an older dlpackgen made it, run `dlpackgen clean` first"

// readParents learns which directories a new file needs, and refuses what
// cannot become one while nothing is touched yet.
func (r *reader) readParents(name string) error {
	for _, dir := range parents(name) {
		if _, known := r.dirs[dir]; known {
			return nil
		}
		info, err := r.disk.Lstat(dir)
		if isAbsent(err) {
			r.dirs[dir] = false
			continue
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = r.disk.Stat(dir)
		}
		if err != nil {
			return failed(r.want.at(dir), err)
		}
		if !info.IsDir() {
			return fail(KindConflict, r.want.at(dir), "move it away; "+orClean, "a file stands where a directory is needed")
		}
		r.dirs[dir] = true
		return nil
	}
	return nil
}

// look reads what stands at a path. Symbolic links are not followed, and what
// is no regular file is never opened: a pipe would block.
func look(d disk, name string) (found, error) {
	info, err := d.Lstat(name)
	if isAbsent(err) {
		return found{sum: none}, nil
	}
	if err != nil {
		return found{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		// A link that leads outside ends the run; a dangling one does not.
		if _, err := d.Stat(name); errors.Is(err, errEscapes) {
			return found{}, err
		}
		return found{perm: newPerm}, nil
	}
	f := found{perm: info.Mode().Perm(), dir: info.IsDir()}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return f, nil
	}
	data, err := readAll(d, name, maxFile)
	if err != nil {
		return f, err
	}
	f.data, f.sum, f.banner = data, sum(data), emit.HasBanner(data)
	return f, nil
}

// isAbsent also takes a path below a file for absent, on systems that tell.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// knows tells whether a file is as the lock or the journal says.
func (s *snapshot) knows(name, sum string) bool {
	l, inLock := s.lock.changes[name]
	j, inJournal := s.journal.changes[name]
	return sum != "" && sum != none && (inLock && sum == l.sum || inJournal && (sum == j.old || sum == j.sum))
}

// scanRoots finds the other files in the selected targets' paths.
func (r *reader) scanRoots() error {
	seen := map[string]bool{}
	for _, root := range r.want.roots {
		if err := r.scan(root, seen); err != nil {
			return err
		}
	}
	return nil
}

// scan walks a directory, less the paths of targets that are not selected. It
// keeps out of directories whose name begins with a dot (version control,
// caches) and of other output directories, which have a lock of their own.
func (r *reader) scan(dir string, seen map[string]bool) error {
	if seen[dir] || r.want.fences[dir] {
		return nil
	}
	seen[dir] = true
	entries, err := r.disk.ReadDir(dir)
	if isAbsent(err) {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		r.extra[dir] = false
		return nil
	}
	if err != nil {
		return failed(r.want.at(dir), err)
	}
	if output, err := r.isOutput(dir, entries); err != nil || output {
		return err
	}
	for _, e := range entries {
		if err := r.scanEntry(path.Join(dir, e.Name()), e, seen); err != nil {
			return err
		}
	}
	return nil
}

// isOutput tells a directory below ours that is the output of another config.
func (r *reader) isOutput(dir string, entries []fs.DirEntry) (bool, error) {
	for _, e := range entries {
		if dir == "." || !strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		marked, err := r.hasMark(path.Join(dir, e.Name()), e, lockMark)
		if marked || err != nil && !errors.Is(err, fs.ErrPermission) {
			return marked, err
		}
	}
	return false, nil
}

func (r *reader) scanEntry(name string, e fs.DirEntry, seen map[string]bool) error {
	switch {
	case e.IsDir() && strings.HasPrefix(e.Name(), "."):
		return nil
	case e.IsDir():
		return r.scan(name, seen)
	case isTemp(name):
		if path.Dir(name) != "." { // readTop has those
			r.temps = append(r.temps, name)
		}
		return nil
	case r.isKnown(name):
		return nil
	}
	banner, err := r.hasBanner(name, e)
	if err != nil {
		return failed(r.want.at(name), err)
	}
	r.extra[name] = banner
	return nil
}

// isKnown tells the files that somebody accounts for already.
func (r *reader) isKnown(name string) bool {
	_, judged := r.files[name]
	_, locked := r.lock.changes[name]
	_, sibling := r.siblings[name]
	return judged || locked || sibling || r.records[name] || r.want.apart[name]
}

// hasBanner reads the beginning of a file that nobody accounts for. One that
// may not be read is somebody else's.
func (r *reader) hasBanner(name string, e fs.DirEntry) (bool, error) {
	if !e.Type().IsRegular() {
		return false, nil
	}
	head, err := readAll(r.disk, name, headLen)
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return emit.HasBanner(head), err
}
