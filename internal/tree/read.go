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
	temps       []string          // temporaries of this directory's runs, which nobody needs under the guard
	unswept     []string          // temporaries that the journal's run may have left, seen or not
	dirs        map[string]bool   // directories that planned files need -> exist
}

// reader fills a snapshot.
type reader struct {
	*snapshot
	want     *want
	disk     disk
	identity *identity
	ourTemps map[string]bool // the temporaries that this run and those before it can have made
	judged   *index          // every path that somebody accounts for; nil until it is needed
	fences   map[int]bool    // directories of targets that are not selected
}

// readSnapshot reads the output directory. Nothing is written.
func readSnapshot(w *want, d disk) (*snapshot, error) {
	r := &reader{want: w, disk: d, identity: newIdentity(d), ourTemps: map[string]bool{}, fences: map[int]bool{}, snapshot: &snapshot{
		records: map[string]bool{}, siblings: map[string]string{}, files: map[string]found{}, extra: map[string]bool{}, dirs: map[string]bool{},
	}}
	for _, step := range []func() error{r.readTop, r.nameTemps, r.checkPlanned, r.unify, r.checkOwners, r.readFiles, r.scanRoots} {
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
	if mark == "" {
		return nil
	}
	ours := r.identity.same(name, r.want.lock) || r.identity.same(name, r.want.journal)
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
	return r.keep(name, ours, data, rec)
}

// keep puts a record where it belongs.
func (r *reader) keep(name string, ours bool, data []byte, rec record) error {
	r.records[name] = true
	if !ours {
		for p := range rec.changes {
			r.siblings[p] = name
		}
		return nil
	}
	if rec.tool.newer(r.want.tool) {
		return fail(KindNewer, diag.Pos{File: r.want.at(name).File, Line: 1, Col: 1}, installHint(rec.tool.Version),
			"dlpackgen %s wrote this file; this is %s", rec.tool.Version, r.want.tool.Version)
	}
	if markOf(name) == lockMark {
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
	if isAbsent(err) {
		return false, nil // another run removed it after the directory was listed
	}
	if err != nil {
		return false, failed(r.want.at(name), err)
	}
	return strings.HasPrefix(string(head), mark+" "), nil
}

// nameTemps tells the temporaries that runs on this directory leave from those of a run on
// a directory above or below, which may be at work now.
func (r *reader) nameTemps() error {
	for _, p := range []string{r.want.lock, r.want.journal} {
		r.ourTemps[tempName(p)] = true
	}
	for p := range r.want.files {
		r.ourTemps[tempName(p)] = true
	}
	for p := range r.lock.changes {
		r.ourTemps[tempName(p)] = true
	}
	for p := range r.journal.changes {
		r.ourTemps[tempName(p)] = true
		r.unswept = append(r.unswept, tempName(p))
	}
	r.temps = slices.DeleteFunc(r.temps, func(name string) bool { return !r.ourTemps[name] })
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
	for fence := range r.want.fences {
		if dir, exists := r.identity.isDir(fence); exists {
			r.fences[dir] = true
		}
	}
	seen := map[int]bool{}
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
func (r *reader) scan(dir string, seen map[int]bool) error {
	if number, exists := r.identity.isDir(dir); exists {
		if seen[number] || r.fences[number] {
			return nil
		}
		seen[number] = true
	}
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

// isOutput tells a directory below ours that is the output of another config: it has a lock,
// or the journal of a first run.
func (r *reader) isOutput(dir string, entries []fs.DirEntry) (bool, error) {
	for _, e := range entries {
		mark := markOf(e.Name())
		if dir == "." || mark == "" {
			continue
		}
		marked, err := r.hasMark(path.Join(dir, e.Name()), e, mark)
		if marked || err != nil && !errors.Is(err, fs.ErrPermission) {
			return marked, err
		}
	}
	return false, nil
}

func (r *reader) scanEntry(name string, e fs.DirEntry, seen map[int]bool) error {
	switch {
	case e.IsDir() && strings.HasPrefix(e.Name(), "."):
		return nil
	case e.IsDir():
		return r.scan(name, seen)
	case r.ourTemps[name]:
		if path.Dir(name) != "." { // readTop has those
			r.temps = append(r.temps, name)
		}
		return nil
	case r.isKnown(name):
		return nil
	}
	banner, err := r.hasBanner(name, e)
	if isAbsent(err) {
		return nil // another run removed it after the directory was listed
	}
	if err != nil {
		return failed(r.want.at(name), err)
	}
	r.extra[name] = banner
	return nil
}

// isKnown reports whether somebody accounts for a file already, whatever its spelling.
func (r *reader) isKnown(name string) bool {
	if r.judged == nil {
		r.judged = r.identity.index()
		for _, p := range slices.Concat(slices.Collect(maps.Keys(r.files)), slices.Collect(maps.Keys(r.lock.changes)), r.staying()) {
			r.judged.add(p)
		}
	}
	_, known := r.judged.find(name)
	return known
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
