package tree

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// applier executes a plan, and records its progress.
type applier struct {
	disk disk
	want *want
	plan *plan

	ready  map[string]bool // directories that are there
	made   []string        // those of them that were not
	healed bool            // nothing is left that only the journal of a killed run knows
	staged []string        // paths whose temporary is written, or may be
	moved  bool            // a file has changed, or may have: from here only forward
}

// apply executes a plan under the guard. The order of steps makes a kill harmless: the journal
// lists every file before the first one changes; a full disk causes an error while temporaries are
// written, which can be undone; the lock is written after the files; and the journal is removed
// only when the lock is correct.
func apply(w *want, d disk, p *plan) error {
	a := &applier{disk: d, want: w, plan: p, ready: map[string]bool{}}
	before := []func() error{a.sweep, a.heal, a.log, a.stage, w.stopped}
	after := []func() error{a.delete, a.move, a.dropEmpty, a.lock, a.unlog}
	for _, step := range slices.Concat(before, after) {
		if err := step(); err != nil {
			return a.undo(err)
		}
	}
	return nil
}

// sweep removes the temporaries of a killed run.
func (a *applier) sweep() error {
	for _, temp := range a.plan.temps {
		if err := a.disk.Remove(temp); err != nil && !isAbsent(err) {
			return a.failed(temp, err)
		}
	}
	return nil
}

// heal copies the entries of a killed run's journal to the lock, before another journal replaces
// it.
func (a *applier) heal() error {
	if a.plan.journal == nil {
		return nil
	}
	if err := a.setLock(a.plan.healed); err != nil {
		return err
	}
	_ = a.dropEmpty()
	a.healed = true
	return nil
}

func (a *applier) log() error {
	if a.plan.journal == nil {
		return nil
	}
	return a.failed(a.want.journal, put(a.disk, a.want.journal, a.plan.journal))
}

// stage writes the temporaries of all new files, and creates their directories.
func (a *applier) stage() error {
	for _, w := range a.plan.writes {
		for _, dir := range slices.Backward(parents(w.path)) {
			if err := a.makeDir(dir); err != nil {
				return a.failed(dir, err)
			}
		}
		if err := a.want.stopped(); err != nil {
			return err
		}
		a.staged = append(a.staged, w.path)
		if err := writeTemp(a.disk, w.path, w.data, w.perm); err != nil {
			return a.failed(w.path, err)
		}
	}
	return nil
}

func (a *applier) makeDir(dir string) error {
	if a.ready[dir] {
		return nil
	}
	a.ready[dir] = true
	if a.isDir(dir) {
		return nil
	}
	err := a.disk.Mkdir(dir)
	if !errors.Is(err, fs.ErrExist) { // also after an error: the file may exist nevertheless
		a.made = append(a.made, dir)
	} else if a.isDir(dir) { // a run whose output directory is inside this one created it meanwhile
		return nil
	}
	return err
}

func (a *applier) isDir(name string) bool {
	info, err := a.disk.Stat(name)
	return err == nil && info.IsDir()
}

func (a *applier) delete() error {
	for _, name := range a.plan.deletes {
		a.moved = true
		if err := a.disk.Remove(name); err != nil {
			return a.failed(name, err)
		}
	}
	return nil
}

func (a *applier) move() error {
	for _, w := range a.plan.writes {
		a.moved = true
		if err := a.disk.Rename(tempName(w.path), w.path); err != nil {
			return a.failed(w.path, err)
		}
	}
	return nil
}

// dropEmpty removes the directories that lost their last file. Git does not
// keep them either, so one that stays is no failure.
func (a *applier) dropEmpty() error {
	for _, dir := range a.plan.empty {
		if info, err := a.disk.Lstat(dir); err == nil && info.IsDir() {
			_ = a.disk.Remove(dir) // rejected if it is not empty
		}
	}
	return nil
}

func (a *applier) lock() error { return a.setLock(a.plan.lock) }

func (a *applier) setLock(text []byte) (err error) {
	switch {
	case bytes.Equal(text, a.plan.onDisk):
	case text == nil:
		err = a.disk.Remove(a.want.lock)
	default:
		err = put(a.disk, a.want.lock, text)
	}
	a.plan.onDisk = text
	return a.failed(a.want.lock, err)
}

func (a *applier) unlog() error {
	if !a.plan.unlog {
		return nil
	}
	return a.failed(a.want.journal, a.disk.Remove(a.want.journal))
}

// undo removes, as far as possible, the files and directories that a failed run has created and
// that are not in use yet. The journal is kept once a file may have changed.
func (a *applier) undo(err error) error {
	swept := true
	for _, name := range a.staged {
		err := a.disk.Remove(tempName(name))
		swept = isGone(err) && swept
	}
	if a.moved {
		return leaving(err, true)
	}
	for _, dir := range slices.Backward(a.made) {
		_ = a.disk.Remove(dir)
	}
	if swept && a.healed {
		swept = isGone(a.disk.Remove(a.want.journal))
	}
	return leaving(err, !swept)
}

// leaving records whether something is left for the next run.
func leaving(err error, left bool) error {
	var failed *Error
	if errors.As(err, &failed) {
		failed.Left = left
	}
	return err
}

func isGone(err error) bool { return err == nil || isAbsent(err) }

// whole describes the state of the files after a run that could not finish.
const whole = "every file is complete, old or new; run the same command again when this is resolved"

// failed adds the position to an error. It returns nil for nil.
func (a *applier) failed(name string, err error) error {
	if err == nil {
		return nil
	}
	out := a.want.notWritten(a.want.at(name), err)
	hint := &out.Findings[0].Hint
	*hint = strings.TrimPrefix(*hint+"; "+whole, "; ")
	return out
}
