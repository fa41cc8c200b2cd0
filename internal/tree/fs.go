package tree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/order"
)

// disk contains the file operations of this package, in one open directory and with slashes. Tests
// make each operation fail. No operation leaves the directory.
type disk interface {
	// Guard locks the directory for this run, until Close. errBusy means that another run holds the
	// lock. Shared guards exclude only exclusive ones.
	Guard(shared bool) error
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error) // sorted by name
	Open(name string) (io.ReadCloser, error)
	// fails where the name is taken; perm newPerm leaves it to the user's mask
	Create(name string, perm fs.FileMode) (io.WriteCloser, error)
	Mkdir(name string) error
	Rename(from, to string) error
	Remove(name string) error
	Close() error
}

var (
	errBusy    = errors.New("another run is in progress in this directory")
	errEscapes = escapeError()
)

// escapeError returns the error value of os.Root for a path that leads out of it. Package os does
// not export it.
func escapeError() error {
	err := errors.New("path escapes from the directory")
	if root, openErr := os.OpenRoot("."); openErr == nil {
		_, err = root.Lstat("../.")
		root.Close()
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// newPerm is the mode of a new file. No existing file has it.
const newPerm = fs.ModeIrregular

// rootDisk implements disk with the file system.
type rootDisk struct {
	root *os.Root
	dir  *os.File // the directory, open; holds the guard
	hold guard
	subs map[string]*os.Root // directories below it, open
}

// maxSubs limits the number of directories that are kept open.
const maxSubs = 100

// in returns the open directory of a path, and the name in it. Otherwise, each operation would open
// every directory of the path. Operations that follow links at the name itself must not use it.
func (d *rootDisk) in(name string) (*os.Root, string) {
	dir := path.Dir(name)
	if dir == "." {
		return d.root, name
	}
	sub := d.subs[dir]
	if sub == nil && len(d.subs) < maxSubs {
		info, err := d.root.Stat(dir) // as in openDisk
		if err == nil && info.IsDir() {
			sub, err = d.root.OpenRoot(dir)
		}
		if err == nil && sub != nil {
			d.subs[dir] = sub
		}
	}
	if sub == nil {
		return d.root, name
	}
	return sub, path.Base(name)
}

func openDisk(dir string) (disk, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() { // opening a pipe would wait for its writer
		err = &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &rootDisk{root: root, dir: file, subs: map[string]*os.Root{}}, nil
}

func (d *rootDisk) Guard(shared bool) error { return d.hold.take(d.dir, shared) }

func (d *rootDisk) Close() error {
	d.hold.drop()
	for _, sub := range d.subs {
		sub.Close()
	}
	return errors.Join(d.dir.Close(), d.root.Close())
}

func (d *rootDisk) Stat(name string) (fs.FileInfo, error) { return d.root.Stat(name) }

func (d *rootDisk) Lstat(name string) (fs.FileInfo, error) {
	dir, base := d.in(name)
	return dir.Lstat(base)
}

// Open is for names that are no links.
func (d *rootDisk) Open(name string) (io.ReadCloser, error) {
	dir, base := d.in(name)
	return dir.Open(base)
}

func (d *rootDisk) Mkdir(name string) error {
	dir, base := d.in(name)
	return dir.Mkdir(base, 0o777)
}

// Rename stays in one directory.
func (d *rootDisk) Rename(from, to string) error {
	dir, base := d.in(from)
	if dir == d.root {
		return dir.Rename(from, to)
	}
	return dir.Rename(base, path.Base(to))
}

func (d *rootDisk) Remove(name string) error {
	if sub := d.subs[name]; sub != nil { // Windows removes no directory that is open
		sub.Close()
		delete(d.subs, name)
	}
	dir, base := d.in(name)
	return dir.Remove(base)
}

func (d *rootDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := d.root.Stat(name)
	if err == nil && !info.IsDir() { // as in openDisk
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	dir, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	order.By(entries, fs.DirEntry.Name)
	return entries, err
}

// Create creates a file with exactly perm, unless perm is newPerm: perm is the mode of the replaced
// file, to which the umask must not apply.
func (d *rootDisk) Create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	dir, base := d.in(name)
	f, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil || perm == newPerm {
		return f, err
	}
	if err := f.Chmod(perm); err != nil {
		f.Close()
		return nil, errors.Join(err, dir.Remove(base))
	}
	return f, nil
}

// noDisk is an output directory that does not exist yet. It contains nothing, and nothing is
// written to it.
type noDisk struct{ disk }

func (noDisk) Lstat(string) (fs.FileInfo, error)     { return nil, fs.ErrNotExist }
func (noDisk) Stat(string) (fs.FileInfo, error)      { return nil, fs.ErrNotExist }
func (noDisk) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }
func (noDisk) Close() error                          { return nil }

// readAll reads a file of at most limit bytes. Of a longer file, it returns limit + 1 bytes.
func readAll(d disk, name string, limit int64) (data []byte, err error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// writeTemp writes the temporary of a file. An existing temporary belongs to a killed run and is
// removed.
func writeTemp(d disk, name string, data []byte, perm fs.FileMode) error {
	temp := tempName(name)
	f, err := d.Create(temp, perm)
	if errors.Is(err, fs.ErrExist) {
		if err = d.Remove(temp); err == nil {
			f, err = d.Create(temp, perm)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// put replaces one of our files atomically: a reader sees the old or the new one. The mode of the
// old file is kept.
func put(d disk, name string, data []byte) error {
	perm := newPerm
	if info, err := d.Lstat(name); err == nil && info.Mode().IsRegular() {
		perm = info.Mode().Perm()
	}
	err := writeTemp(d, name, data, perm)
	if err == nil {
		err = d.Rename(tempName(name), name)
	}
	if err != nil {
		// The first error is reported; the next run removes the temporary.
		_ = d.Remove(tempName(name))
	}
	return err
}
