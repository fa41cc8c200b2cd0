package tree

import (
	"bytes"
	"errors"
	"fmt"
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
// one at its path is the user's. The banner is in the first line.
const (
	maxFile = 64 << 20
	headLen = 1 << 10
)

// found is the content of a path on disk.
type found struct {
	sum    string // none: nothing is there; "": no regular file, or one too large to be ours
	data   []byte // nil unless there is a sum of a file
	perm   fs.FileMode
	dir    bool
	banner bool
	// instead names what is there if no file that a run writes can be: a directory, a link, a pipe.
	instead string
}

// snapshot contains all information of a run about the output directory. The plan depends on it.
type snapshot struct {
	lockText    []byte // after CRLF to LF; nil where there is none
	writer      Tool   // of the lock
	journal     record
	interrupted bool             // there is a journal
	entries     map[string]entry // of the lock, corrected for files that a killed run had changed
	planned     map[key]string   // files to be
	lines       map[key]string   // paths of the lock that are this run's business, in the plan's spelling
	theirs      map[key]claim
	files       map[string]found // every path of planned, lines and the journal
	extra       map[string]bool  // other files in the selected targets' paths -> has our banner
	starters    map[string]bool  // of extra: they are their user's, and no finding
	defined     map[string]bool  // starter files with a function that a source of the user's has
	temps       []string         // of this directory's runs, which are not needed under the guard
}

// reader builds a snapshot.
type reader struct {
	*snapshot
	want     *want
	disk     disk
	identity *identity
	records  []string          // locks and journals of any config
	siblings map[string]record // those of the others
}

// readSnapshot reads the output directory. Nothing is written.
func readSnapshot(w *want, d disk) (*snapshot, error) {
	r, err := newReader(w, d)
	if err != nil {
		return nil, err
	}
	return r.snapshot, nil
}

// newReader reads the output directory, and returns the reader.
func newReader(w *want, d disk) (*reader, error) {
	r := &reader{want: w, disk: d, identity: newIdentity(d, w.out), siblings: map[string]record{}, snapshot: &snapshot{
		entries: map[string]entry{}, planned: map[key]string{}, lines: map[key]string{}, theirs: map[key]claim{},
		files: map[string]found{}, extra: map[string]bool{}, defined: map[string]bool{},
		starters: map[string]bool{},
	}}
	for _, step := range []func() error{r.readRecords, r.heal, r.claim, r.readPlanned, r.readLines, r.claimSides,
		r.findTemps, r.scanRoots, r.findDefined} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if r.identity.err != nil {
		return nil, failed(w.at("."), r.identity.err)
	}
	return r, nil
}

// readRecords reads the locks and journals at the top of the output directory, ours and those
// of other configs; other tools' locks are passed over.
func (r *reader) readRecords() error {
	_, entries, err := r.identity.list(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(r.want.at("."), err)
	}
	lock, journal := r.identity.key(r.want.lock), r.identity.key(r.want.journal)
	for _, e := range entries {
		k := r.identity.key(e.Name())
		if err := r.readRecord(e, k == lock || k == journal); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readRecord(e fs.DirEntry, ours bool) error {
	name := e.Name()
	mark := markOf(name)
	if mark == "" {
		return nil
	}
	if marked, err := r.hasMark(name, e); err != nil || !marked && !ours {
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

// keep stores a record.
func (r *reader) keep(name string, ours bool, data []byte, rec record) error {
	r.records = append(r.records, name)
	switch {
	case !ours:
		r.siblings[name] = rec
	case rec.tool.newer(r.want.tool) && !r.want.sumsAlone:
		return fail(KindNewer, diag.Pos{File: r.want.at(name).File, Line: 1, Col: 1}, installHint(rec.tool.Version),
			"dlpackgen %s wrote this file; this is %s", rec.tool.Version, r.want.tool.Version)
	case markOf(name) == journalMark:
		r.journal, r.interrupted = rec, true
	default:
		r.writer, r.lockText = rec.tool, toLF(data)
		for p, c := range rec.changes {
			r.entries[p] = c.entry
		}
	}
	return nil
}

// markOf returns the first word of a record with that file name, or "".
func markOf(name string) string {
	switch {
	case strings.HasSuffix(name, ".lock"):
		return lockMark
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".journal"):
		return journalMark
	}
	return ""
}

// hasMark reports whether a file is one of our records.
func (r *reader) hasMark(name string, e fs.DirEntry) (bool, error) {
	mark := markOf(e.Name())
	if mark == "" || !e.Type().IsRegular() {
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

// heal corrects the lock's entries for the files that a killed run was changing. Afterwards, only
// the lock determines which files are ours.
func (r *reader) heal() error {
	for _, p := range slices.Sorted(maps.Keys(r.journal.changes)) {
		if err := r.read(p); err != nil {
			return err
		}
		c, now := r.journal.changes[p], r.files[p].sum
		e, listed := r.entries[p]
		switch {
		case now == none && c.sum == none:
			delete(r.entries, p)
		case now == "" || now == none:
		case now == c.sum:
			r.entries[p] = c.entry
		case now == c.old && listed:
			e.sum = now
			r.entries[p] = e
		case now == c.old:
			c.entry.sum = now
			r.entries[p] = c.entry
		}
	}
	return nil
}

// readPlanned reads the paths of planned files. It rejects paths that cannot become a directory
// before anything is changed.
func (r *reader) readPlanned() error {
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		if err := r.read(p); err != nil {
			return err
		}
		if r.files[p].sum != none {
			continue
		}
		if err := r.checkParents(p); err != nil {
			return err
		}
	}
	return nil
}

// readLines reads the paths of the lock that belong to this run. A path that is planned under
// another spelling is treated as that one.
func (r *reader) readLines() error {
	for _, p := range slices.Sorted(maps.Keys(r.entries)) {
		k := r.identity.key(p)
		if _, isTheirs := r.theirs[k]; isTheirs || !r.want.owns(r.entries[p].target) {
			continue
		}
		name, isPlanned := r.planned[k]
		if !isPlanned {
			name = p
		}
		if _, listed := r.entries[name]; !listed {
			e := r.entries[p]
			e.path = name
			r.entries[name] = e
		}
		r.lines[k] = name
		if err := r.read(name); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) read(name string) error {
	if _, known := r.files[name]; known {
		return nil
	}
	if at := r.identity.directory(path.Dir(name)); at.absent {
		r.files[name] = found{sum: none}
		return nil
	}
	f, err := look(r.disk, name, r.want.files[name])
	if err != nil {
		return failed(r.want.at(name), err)
	}
	r.files[name] = f
	return nil
}

// orClean is the hint for a release that replaced a file with a directory, or a directory with a
// file.
const orClean = "if an older dlpackgen generated it, run `dlpackgen clean` first"

// checkParents rejects a file at a path where a new file needs a directory.
func (r *reader) checkParents(name string) error {
	for _, dir := range parents(name) {
		if r.identity.directory(dir).rest == "" {
			return nil
		}
		info, err := r.disk.Lstat(dir)
		if isAbsent(err) {
			continue
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = r.disk.Stat(dir)
		}
		if err != nil {
			return failed(r.want.at(dir), err)
		}
		if !info.IsDir() { // a run above or below may just have created one
			return fail(KindConflict, r.want.at(dir), "move it away; "+orClean,
				"a file is in the place of a directory")
		}
	}
	return nil
}

// look reads the content of a path. It does not follow symbolic links, and never opens files that
// are not regular, because a pipe would block.
func look(d disk, name string, plan planned) (found, error) {
	info, err := d.Lstat(name)
	if isAbsent(err) {
		return found{sum: none}, nil
	}
	if err != nil {
		return found{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		// A link that leads outside is an error; a dangling one is not.
		if _, err := d.Stat(name); errors.Is(err, errEscapes) {
			return found{}, err
		}
		return found{perm: newPerm, instead: instead(info)}, nil
	}
	f := found{perm: info.Mode().Perm(), dir: info.IsDir(), instead: instead(info)}
	if f.instead != "" {
		return f, nil
	}
	data, err := readAll(d, name, maxFile)
	if err != nil {
		return f, err
	}
	f.banner = emit.HasBanner(data)
	if plan.sum != "" && bytes.Equal(data, plan.data) {
		f.sum = plan.sum // the difference is not needed
		return f, nil
	}
	f.data, f.sum = data, sum(data)
	return f, nil
}

// instead describes what is not a regular file, or one too large to be ours; otherwise, it returns
// "".
func instead(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a directory"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case !info.Mode().IsRegular():
		return "a pipe, socket or device"
	case info.Size() > maxFile:
		return fmt.Sprintf("a file of %d bytes, too large to be generated", info.Size())
	}
	return ""
}

// isAbsent reports whether an error means that a path does not exist, also because a parent is a
// file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// findTemps finds the temporaries of killed runs in this directory. Runs in a directory above or
// below have temporaries with other names, and may still be running.
func (r *reader) findTemps() error {
	paths := []string{r.want.lock, r.want.journal}
	for _, names := range [][]string{slices.Collect(maps.Keys(r.want.files)), slices.Collect(maps.Keys(r.entries)),
		slices.Collect(maps.Keys(r.journal.changes))} {
		paths = append(paths, names...)
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if k, found := r.identity.entry(tempName(p)); found {
			r.temps = append(r.temps, tempName(p))
			r.theirs[k] = claim{}
		}
	}
	slices.Sort(r.temps)
	return nil
}

// scanRoots finds the other files in the selected targets' paths, except in paths of targets that
// are not selected.
func (r *reader) scanRoots() error {
	seen := map[int]bool{-1: true}
	for _, fence := range r.want.fences {
		if at := r.identity.directory(fence); at.rest == "" {
			seen[at.dir] = true
		}
	}
	for _, root := range r.want.roots {
		if err := r.scan(root, seen); err != nil {
			return err
		}
	}
	return nil
}

// scan walks a directory once. It skips directories whose names begin with a dot (version control,
// caches) and other output directories, which have their own lock.
func (r *reader) scan(name string, seen map[int]bool) error {
	dir, entries, err := r.identity.list(name)
	if seen[dir] || isAbsent(err) {
		return nil
	}
	seen[dir] = true
	if errors.Is(err, fs.ErrPermission) {
		r.extra[name] = false
		return nil
	}
	if err != nil {
		return failed(r.want.at(name), err)
	}
	if output, err := r.isOutput(name, entries); err != nil || output {
		return err
	}
	for _, e := range entries {
		if err := r.scanEntry(path.Join(name, e.Name()), e, seen); err != nil {
			return err
		}
	}
	return nil
}

// isOutput reports whether a directory below ours is the output directory of another config: it has
// a lock, or the journal of a first run.
func (r *reader) isOutput(dir string, entries []fs.DirEntry) (bool, error) {
	if dir == "." {
		return false, nil
	}
	for _, e := range entries {
		marked, err := r.hasMark(path.Join(dir, e.Name()), e)
		if marked || err != nil && !errors.Is(err, fs.ErrPermission) {
			return marked, err
		}
	}
	return false, nil
}

func (r *reader) scanEntry(name string, e fs.DirEntry, seen map[int]bool) error {
	if e.IsDir() {
		if strings.HasPrefix(e.Name(), ".") {
			return nil
		}
		return r.scan(name, seen)
	}
	k := r.identity.key(name)
	_, isPlanned := r.planned[k]
	_, isOurs := r.lines[k]
	if _, isTheirs := r.theirs[k]; isPlanned || isOurs || isTheirs {
		return nil
	}
	head, err := r.head(name, e)
	if isAbsent(err) {
		return nil // another run removed it after the directory was listed
	}
	if err != nil {
		return failed(r.want.at(name), err)
	}
	r.extra[name] = emit.HasBanner(head)
	if isStarter(name, head) {
		r.starters[name] = true
	}
	return nil
}

// head reads the beginning of a file without a record. A file without read permission is treated as
// the user's.
func (r *reader) head(name string, e fs.DirEntry) ([]byte, error) {
	if !e.Type().IsRegular() {
		return nil, nil
	}
	head, err := readAll(r.disk, name, headLen)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return head, err
}

// isStarter reports whether a file is a starter file, or a file that init wrote.
func isStarter(name string, head []byte) bool {
	return strings.HasPrefix(string(toLF(head)), emit.StarterLine(name))
}
