package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// patience is the maximum time that a run waits for another run in its directory. poll is the time
// between attempts.
const (
	patience = 10 * time.Second
	poll     = 20 * time.Millisecond
)

// world is the environment of a run. Tests replace parts of it.
type world struct {
	open  func(dir string) (disk, error)
	mkdir func(dir string) error
	rmdir func(dir string) error
	wait  time.Duration
}

// system is the real environment.
func system() world {
	return world{
		open:  openDisk,
		mkdir: func(dir string) error { return os.Mkdir(dir, 0o777) },
		rmdir: os.Remove,
		wait:  patience,
	}
}

func (w world) check(req Request) (*Report, error) { return w.run(req, false, w.look) }

func (w world) generate(req Request, dryRun bool) (*Report, error) {
	if dryRun {
		return w.run(req, false, w.look)
	}
	return w.run(req, false, w.bring)
}

func (w world) clean(req Request, dryRun bool) (*Report, error) {
	req.Targets = slices.Clone(req.Targets)
	for i := range req.Targets {
		req.Targets[i].Files = nil
	}
	if dryRun {
		return w.run(req, true, w.look)
	}
	return w.run(req, true, w.bring)
}

// run keeps a run on one system thread: fault injection counts system calls per thread, and a
// Windows guard belongs to a thread.
func (w world) run(req Request, clean bool, do func(*want) (*Report, error)) (*Report, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	want, err := newWant(req)
	if err != nil {
		return nil, err
	}
	want.clean = clean
	return do(want)
}

// look reports the plan without changes.
func (w world) look(want *want) (*Report, error) {
	d, _, report, err := w.survey(want, true)
	if err != nil {
		return nil, err
	}
	return report, d.Close()
}

// bring executes the plan.
func (w world) bring(want *want) (*Report, error) {
	d, p, report, err := w.survey(want, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	switch _, absent := d.(noDisk); {
	case p.edited && !want.clean || p.idle():
	case absent:
		return w.begin(want)
	default:
		err = apply(want, d, p)
	}
	if err != nil {
		return nil, err
	}
	if err := want.editedError(p); err != nil {
		return report, err
	}
	return report, w.writeSides(want)
}

// begin creates the output directory, after all other checks. It makes the plan again, because
// another run may have been faster.
func (w world) begin(want *want) (*Report, error) {
	made, err := w.makeOut(want.out)
	var report *Report
	if err != nil {
		err = want.notMade(err)
	} else {
		report, err = w.bring(want)
	}
	if err != nil {
		for _, dir := range slices.Backward(made) {
			_ = w.rmdir(dir) // rejected if it is not empty
		}
	}
	return report, err
}

// notMade returns an error of makeOut, with the folder that could not be created as its position.
func (w *want) notMade(err error) *Error {
	pos := w.at(".")
	var of *fs.PathError
	if errors.As(err, &of) {
		pos.File = filepath.ToSlash(of.Path)
	}
	return w.notWritten(pos, err)
}

// makeOut creates a directory with its parents, and returns those that it created.
func (w world) makeOut(dir string) (made []string, err error) {
	var missing []string
	for d := filepath.Clean(dir); !isDir(d) && d != filepath.Dir(d); d = filepath.Dir(d) {
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		if err := w.mkdir(d); err != nil && !isDir(d) {
			return made, err
		}
		made = append(made, d)
	}
	return made, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// enter opens and guards the output directory. A missing directory is treated as empty until
// something must be written.
func (w world) enter(want *want, shared bool) (disk, error) {
	d, err := w.open(want.out)
	if errors.Is(err, fs.ErrNotExist) {
		return noDisk{}, nil
	}
	if err != nil {
		return nil, failed(want.at("."), err)
	}
	if err := w.takeTurn(want, d, shared); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// takeTurn waits for the guard.
func (w world) takeTurn(want *want, d disk, shared bool) error {
	for end := time.Now().Add(w.wait); ; time.Sleep(poll) {
		err := d.Guard(shared)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, errBusy) || time.Now().After(end):
			return want.busyError(err)
		}
		if err := want.stopped(); err != nil {
			return err
		}
	}
}

// survey enters the output directory and makes the plan. The caller must close the disk.
func (w world) survey(want *want, shared bool) (disk, *plan, *Report, error) {
	d, err := w.enter(want, shared)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := readSnapshot(want, d)
	if err == nil {
		err = w.planSides(want)
	}
	if err != nil {
		d.Close()
		return nil, nil, nil, err
	}
	p := makePlan(want, s)
	return d, p, &Report{Items: p.items, Writer: s.writer}, nil
}

func (w *want) busyError(err error) error {
	out := failed(w.at("."), err)
	if errors.Is(err, errBusy) {
		out.Kind = KindBusy
		out.Findings[0].Code = KindBusy.String()
		out.Findings[0].Hint = "wait for it to end, or look for a process that hangs"
	}
	return out
}

// ForeignText is the message of findings for an Item that is Foreign.
const ForeignText = "already exists, and was not generated by dlpackgen"

// InsteadText is the format of the message of findings for an Item with Instead.
const InsteadText = "expected a generated file, found %s"

// These are the hints of findings about files and directories that a run would replace.
const (
	AwayHint      = "move it away"
	DirectoryHint = AwayHint + ", --force removes no directory"
	ForceHint     = AwayHint + ", or let `dlpackgen generate --force` replace it"
	EditedHint    = "move the edits elsewhere, or let `dlpackgen generate --force` replace them"
)

// editedError returns an error that names the files that were edited by hand and are not forced, or
// nil.
func (w *want) editedError(p *plan) error {
	if !p.edited {
		return nil
	}
	hint := EditedHint
	if w.clean {
		hint = "delete the file yourself when the edits are not needed"
	}
	out := &Error{Kind: KindModified}
	for _, it := range p.items {
		switch {
		case it.Dir:
			out.Findings = append(out.Findings,
				finding(KindModified, w.at(it.Path), DirectoryHint+"; "+orClean, InsteadText, it.Instead))
		case it.Foreign && it.Action == Keep:
			out.Findings = append(out.Findings, finding(KindModified, w.at(it.Path), ForceHint, "%s", ForeignText))
		case it.Instead != "" && it.Action == Keep && it.New != nil:
			out.Findings = append(out.Findings,
				finding(KindModified, w.at(it.Path), ForceHint, InsteadText, it.Instead))
		case it.Instead != "" && it.Action == Keep: // it is no longer planned
			out.Findings = append(out.Findings, finding(KindModified, w.at(it.Path), AwayHint, InsteadText, it.Instead))
		case it.State == Modified && it.Action == Keep:
			out.Findings = append(out.Findings,
				finding(KindModified, w.at(it.Path), hint, "the file was edited by hand"))
		}
	}
	return out
}
