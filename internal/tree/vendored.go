package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/order"
)

// Verify compares a folder only with its lock. It needs neither the config nor the build that
// generated the files, and accepts a lock of a newer version. The report has an item for each file
// of the lock (Unchanged, Missing or Modified), and for each other file or folder (Orphaned or
// Untracked).
func Verify(req Request) (*Report, error) { return system().verify(req) }

func (w world) verify(req Request) (*Report, error) {
	return w.run(req, false, func(want *want) (*Report, error) {
		want.sumsAlone = true
		d, err := w.enter(want, true)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		r, err := newReader(want, d)
		if err != nil {
			return nil, vendorAgain(err)
		}
		if r.lockText == nil {
			return nil, fail(KindRequest, want.at(want.lock),
				"name the folder that has the lock, and vendor the lock too",
				"there is no lock to verify files by")
		}
		if len(r.entries) == 0 {
			return nil, fail(KindInvalid, want.at(want.lock),
				"restore the lock from version control, or vendor it again with "+
					"its files", "the lock lists no files")
		}
		v := &verifier{reader: r, report: &Report{Writer: r.writer}, files: map[key]bool{}, folders: map[int]bool{}}
		return v.verify()
	})
}

// vendorAgain replaces the hint for an invalid lock or journal, because nothing is generated here.
func vendorAgain(err error) error {
	var e *Error
	if errors.As(err, &e) {
		for i := range e.Findings {
			if h := e.Findings[i].Hint; h == badLockHint || h == badJournalHint {
				e.Findings[i].Hint = "restore the file from version control, or vendor it again with its files"
			}
		}
	}
	return err
}

// separately is the text of the note about another lock.
const separately = "it belongs to another config; verify its lock too"

// verifier compares a folder with its lock.
type verifier struct {
	*reader
	report  *Report
	files   map[key]bool // of this lock and of the others beside it
	folders map[int]bool // with such files in them, or below them
}

func (v *verifier) verify() (*Report, error) {
	if err := v.checkOrder(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(v.entries)) {
		v.report.Items = append(v.report.Items, v.listed(v.entries[name], v.snapshot.files[name]))
	}
	for _, name := range v.temps {
		v.report.Items = append(v.report.Items, Item{Path: name, State: Interrupted})
	}
	if v.interrupted {
		v.report.Items = append(v.report.Items, Item{Path: v.want.journal, State: Interrupted})
	}
	for name := range v.siblings {
		if markOf(name) == lockMark {
			v.report.Items = append(v.report.Items, Item{Path: name, State: Untracked, Note: true, Why: separately})
		}
	}
	v.know()
	err := v.walk(".")
	order.By(v.report.Items, func(it Item) string { return it.Path })
	return v.report, err
}

// checkOrder rejects a lock whose lines are not sorted.
func (v *verifier) checkOrder() error {
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(string(v.lockText), "\n"), "\n") {
		if i == 0 {
			continue
		}
		name := strings.SplitN(line, " ", len(lockForm))[len(lockForm)-1]
		if name < last {
			return fail(KindInvalid, diag.Pos{File: v.want.at(v.want.lock).File, Line: i + 1, Col: 1},
				"vendor the lock again; dlpackgen sorts its lines by path",
				"expected %s before %s: the lock was edited", clip(name), clip(last))
		}
		last = name
	}
	return nil
}

// listed determines the state of a file in the lock.
func (v *verifier) listed(e entry, f found) Item {
	it := Item{Path: e.path, Target: e.target}
	switch {
	case f.sum == none:
		it.State, it.Action = Missing, Create
	case f.sum != e.sum:
		it.State, it.Dir, it.Why = Modified, f.dir, difference(e, f)
	}
	return it
}

// difference describes the file in the lock and the content of its path.
func difference(e entry, f found) string {
	if f.sum != "" {
		return fmt.Sprintf("expected SHA-256 %.12s..., found %.12s...", e.sum, f.sum)
	}
	return "expected a regular file, found " + f.instead
}

// know records the files that a lock in this folder lists, its config, and their parent folders.
func (v *verifier) know() {
	names := slices.Collect(maps.Keys(v.entries))
	for _, rec := range v.siblings {
		names = slices.AppendSeq(names, maps.Keys(rec.changes))
	}
	for _, name := range v.records {
		names = append(names, strings.TrimSuffix(name, ".lock")+".yaml")
	}
	for _, name := range slices.Concat(names, v.records, v.temps) {
		v.files[v.identity.key(name)] = true
		for _, dir := range parents(name) {
			if at := v.identity.directory(dir); at.rest == "" {
				v.folders[at.dir] = true
			}
		}
	}
}

// walk reports the files of a folder that no lock lists.
func (v *verifier) walk(dir string) error {
	_, entries, err := v.identity.list(dir)
	if err != nil {
		return failed(v.want.at(dir), err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		known, err := v.isKnown(name, e)
		if err == nil && !known {
			err = v.unlisted(name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isKnown reports whether to skip an entry: files of a lock, a lock's config, and files of version
// control. It walks the folders of the lock.
func (v *verifier) isKnown(name string, e fs.DirEntry) (bool, error) {
	switch {
	case e.Name() == ".git", e.IsDir() && strings.HasPrefix(e.Name(), "."):
		return true, nil
	case v.files[v.identity.key(name)]:
		return true, nil
	case !e.IsDir() || !v.folders[v.identity.directory(name).dir]:
		return false, nil
	}
	return true, v.walk(name)
}

// unlisted reports an entry that no lock lists.
func (v *verifier) unlisted(name string, e fs.DirEntry) error {
	it := Item{Path: name, State: Untracked, Dir: e.IsDir()}
	var err error
	switch {
	case e.IsDir():
		err = v.judgeFolder(&it)
	case e.Type()&fs.ModeSymlink != 0:
		at := v.identity.directory(name)
		if at.rest == "" && v.folders[at.dir] {
			it.State, it.Why = Modified, "expected a folder, found a symbolic link"
		}
	default:
		err = v.judgeFile(&it, e)
	}
	v.report.Items = append(v.report.Items, it)
	return err
}

// judgeFolder reports another config's output, which has its own lock, as a note.
func (v *verifier) judgeFolder(it *Item) error {
	_, entries, err := v.identity.list(it.Path)
	if err != nil && !isAbsent(err) && !errors.Is(err, fs.ErrPermission) {
		return failed(v.want.at(it.Path), err)
	}
	output, err := v.isOutput(it.Path, entries)
	if output {
		it.Note, it.Why = true, separately
	}
	return err
}

// judgeFile determines whether a file that no lock lists is a generated file, a starter file, or
// another file.
func (v *verifier) judgeFile(it *Item, e fs.DirEntry) error {
	head, err := v.head(it.Path, e)
	if err != nil && !isAbsent(err) {
		return failed(v.want.at(it.Path), err)
	}
	switch {
	case emit.HasBanner(head):
		it.State = Orphaned
	case isStarter(it.Path, head) && !canShadow(it.Path):
		it.Note, it.Why = true, "it begins like a starter file, which belongs to its author"
	}
	return nil
}

// hooksSuffix ends the names of starter headers, which backends have.
const hooksSuffix = "_hooks.h"

// canShadow reports whether a file is a header that is no starter file. With the name of a header
// that a file of the lock includes, such as string.h, it would be included instead.
func canShadow(name string) bool {
	return slices.Contains([]string{".h", ".hh", ".hpp", ".hxx", ".inc", ".cuh"}, strings.ToLower(path.Ext(name))) &&
		!strings.HasSuffix(name, hooksSuffix)
}
