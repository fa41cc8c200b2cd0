package tree

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

// mode is the way in which a file operation fails.
type mode int

const (
	reject   mode = iota // the operation is not done, or half of a write, and returns an error; later ones work
	rejectOn             // all later ones fail too: a full or read-only disk remains so
	lie                  // the operation is done, but returns an error
	killOn               // the process is killed before the operation, or during a write
	killPast             // the process is killed after the operation
	stopAt               // the run is asked to stop, and the operation is done
)

var errDead = errors.New("the process is dead")

// injector counts the file operations of a run, and makes the operation with number at fail. A
// killed process does nothing more, not even cleanup.
type injector struct {
	n, at int
	mode  mode
	err   error
	dead  bool
	stop  func()
}

// read is an operation without changes. A kill at it has the same result as a kill at the preceding
// change, so kills skip it.
func (in *injector) read(do func() error, half func()) error {
	if !in.dead && (in.mode == killOn || in.mode == killPast) {
		return do()
	}
	return in.op(do, half)
}

// op is one file operation; half is the part that a failure may still do.
func (in *injector) op(do func() error, half func()) error {
	if in.dead {
		return errDead
	}
	in.n++
	if in.n != in.at && (in.mode != rejectOn || in.n < in.at || in.at == 0) {
		return do()
	}
	switch in.mode {
	case stopAt:
		in.stop()
		return do()
	case lie:
		return errors.Join(do(), in.err)
	case killPast:
		_ = do()
		in.dead = true
		return errDead
	case killOn:
		half()
		in.dead = true
		return errDead
	}
	half()
	return in.err
}

func nothing() {}

// world is the system with these failures.
func (in *injector) world() world {
	w := system()
	open, mkdir, rmdir := w.open, w.mkdir, w.rmdir
	w.open = func(dir string) (d disk, err error) {
		err = in.read(func() error { d, err = open(dir); return err }, nothing)
		if err != nil && d != nil {
			d.Close()
		}
		return faultyDisk{d, in}, err
	}
	w.mkdir = func(dir string) error { return in.op(func() error { return mkdir(dir) }, nothing) }
	w.rmdir = func(dir string) error { return in.op(func() error { return rmdir(dir) }, nothing) }
	return w
}

// faultyDisk is a disk whose operations fail as the injector specifies. Close is exempt, because a
// killed process also releases everything.
type faultyDisk struct {
	disk
	in *injector
}

func (d faultyDisk) Guard(shared bool) error {
	return d.in.read(func() error { return d.disk.Guard(shared) }, nothing)
}

func (d faultyDisk) Lstat(name string) (info fs.FileInfo, err error) {
	err = d.in.read(func() error { info, err = d.disk.Lstat(name); return err }, nothing)
	return info, err
}

func (d faultyDisk) Stat(name string) (info fs.FileInfo, err error) {
	err = d.in.read(func() error { info, err = d.disk.Stat(name); return err }, nothing)
	return info, err
}

func (d faultyDisk) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = d.in.read(func() error { entries, err = d.disk.ReadDir(name); return err }, nothing)
	return entries, err
}

func (d faultyDisk) Open(name string) (f io.ReadCloser, err error) {
	err = d.in.read(func() error { f, err = d.disk.Open(name); return err }, nothing)
	return faultyReader{f, d.in}, err
}

func (d faultyDisk) Create(name string, perm fs.FileMode) (f io.WriteCloser, err error) {
	err = d.in.op(func() error { f, err = d.disk.Create(name, perm); return err }, nothing)
	if err != nil && f != nil {
		f.Close()
	}
	return faultyWriter{f, d.in}, err
}

func (d faultyDisk) Mkdir(name string) error {
	return d.in.op(func() error { return d.disk.Mkdir(name) }, nothing)
}

func (d faultyDisk) Rename(from, to string) error {
	return d.in.op(func() error { return d.disk.Rename(from, to) }, nothing)
}

func (d faultyDisk) Remove(name string) error {
	return d.in.op(func() error { return d.disk.Remove(name) }, nothing)
}

type faultyReader struct {
	io.ReadCloser
	in *injector
}

func (r faultyReader) Read(b []byte) (n int, err error) {
	half := func() { n, _ = r.ReadCloser.Read(b[:len(b)/2]) }
	err = r.in.read(func() error { n, err = r.ReadCloser.Read(b); return err }, half)
	return n, err
}

type faultyWriter struct {
	io.WriteCloser
	in *injector
}

func (w faultyWriter) Write(b []byte) (n int, err error) {
	half := func() { n, _ = w.WriteCloser.Write(b[:len(b)/2]) }
	err = w.in.op(func() error { n, err = w.WriteCloser.Write(b); return err }, half)
	return n, err
}

func (w faultyWriter) Close() error {
	closed := false
	err := w.in.op(func() error { closed = true; return w.WriteCloser.Close() }, nothing)
	if !closed {
		w.WriteCloser.Close() // the test itself leaves no descriptor open
	}
	return err
}

// deniedDisk fails to open files named data or secret.
type deniedDisk struct{ disk }

func (d deniedDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.HasSuffix(name, "data") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.disk.ReadDir(name)
}

func (d deniedDisk) Open(name string) (io.ReadCloser, error) {
	if strings.Contains(name, "secret") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.disk.Open(name)
}

// stuckDisk is full at the second file of target c, and cannot remove the first temporary file.
type stuckDisk struct{ disk }

func (d stuckDisk) Create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	if name == tempName("gen/c/new/n.h") {
		return nil, syscall.ENOSPC
	}
	return d.disk.Create(name, perm)
}

func (d stuckDisk) Remove(name string) error {
	if name == tempName("gen/c/dlpack/b.h") {
		return syscall.EACCES
	}
	return d.disk.Remove(name)
}
