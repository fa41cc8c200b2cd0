package tree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// key identifies the file that a path names. Two spellings name the same file on file systems that
// ignore case or normalize Unicode, and if a directory in the path is a symbolic link. Only the
// file system can determine this. All comparisons of paths in this package compare keys.
type key struct {
	dir  int    // index in identity.dirs of the deepest directory that exists
	rest string // "/" and the name as that directory lists it; or the folded path of an absent file
}

// identity computes keys, and reads each directory once.
type identity struct {
	disk  disk
	out   string
	dirs  []*directory
	known map[string]place
	err   error // the first one whose existing entries may be reported as missing
}

// directory is an existing directory.
type directory struct {
	info    fs.FileInfo
	read    func() ([]fs.DirEntry, error)
	entries []fs.DirEntry // by name, once they are read
	err     error
}

// place is the path of a directory: an existing directory, and a relative path below it that does
// not exist.
type place struct {
	dir    int
	rest   string
	absent bool // for sure
}

func newIdentity(d disk, out string) *identity {
	return &identity{disk: d, out: out, known: map[string]place{}}
}

// key identifies a path of the output directory.
func (id *identity) key(name string) key {
	return id.at(id.directory(path.Dir(name)), path.Base(name),
		func() (fs.FileInfo, error) { return id.disk.Lstat(name) })
}

// userKey returns the key of a system path, which may lead into the output directory.
func (id *identity) userKey(name string) key {
	full, err := filepath.Abs(name)
	if err != nil {
		return key{-1, name}
	}
	return id.at(id.userDirectory(filepath.Dir(full)), filepath.Base(full),
		func() (fs.FileInfo, error) { return os.Lstat(full) })
}

func (id *identity) at(above place, base string, lstat func() (fs.FileInfo, error)) key {
	if above.rest == "" {
		if listed := id.listed(above.dir, base, lstat); listed != "" {
			return key{above.dir, "/" + listed}
		}
	}
	return key{above.dir, relpath.Fold(path.Join(above.rest, base))}
}

// listed returns a name in its directory's spelling, or "" for a missing file.
func (id *identity) listed(dir int, base string, lstat func() (fs.FileInfo, error)) string {
	entries, _ := id.entries(dir)
	if _, ok := slices.BinarySearchFunc(entries, base, byName); ok {
		return base
	}
	info, err := lstat()
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if other, err := e.Info(); err == nil && os.SameFile(info, other) {
			return e.Name()
		}
	}
	return base // of a directory that cannot be listed
}

// entry returns the key of a path if its directory lists exactly that name.
func (id *identity) entry(name string) (k key, found bool) {
	_, entries, _ := id.list(path.Dir(name))
	_, found = slices.BinarySearchFunc(entries, path.Base(name), byName)
	return key{id.directory(path.Dir(name)).dir, "/" + path.Base(name)}, found
}

func byName(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }

func (id *identity) entries(dir int) ([]fs.DirEntry, error) {
	d := id.dirs[dir]
	if d.read != nil {
		d.entries, d.err = d.read()
		d.read = nil
		if d.err != nil && !isAbsent(d.err) && !errors.Is(d.err, fs.ErrPermission) {
			id.err = cmp.Or(id.err, d.err)
		}
	}
	return d.entries, d.err
}

// list returns the entries of a directory in the output directory, and its index.
func (id *identity) list(name string) (dir int, entries []fs.DirEntry, err error) {
	at := id.directory(name)
	if at.rest != "" {
		return -1, nil, fs.ErrNotExist
	}
	entries, err = id.entries(at.dir)
	return at.dir, entries, err
}

// directory resolves a path that is a directory or could become one.
func (id *identity) directory(name string) place {
	if at, known := id.known[name]; known {
		return at
	}
	info, err := id.disk.Stat(name)
	if err != nil && !isAbsent(err) && !errors.Is(err, errEscapes) {
		id.err = cmp.Or(id.err, err)
	}
	var at place
	switch {
	case err == nil && info.IsDir():
		at = place{dir: id.number(info, func() ([]fs.DirEntry, error) { return id.disk.ReadDir(name) })}
	case name == ".":
		out := real(id.out) // does not exist yet, or did not when it was to be opened
		at = id.userDirectory(filepath.Dir(out))
		at.rest = path.Join(at.rest, filepath.Base(out))
	default: // absent, or it leads out, which reading the file reports
		above := id.directory(path.Dir(name))
		at = place{above.dir, path.Join(above.rest, path.Base(name)), isAbsent(err)}
	}
	id.known[name] = at
	return at
}

// userDirectory is directory for a system path.
func (id *identity) userDirectory(full string) place {
	for rest := ""; ; full, rest = filepath.Dir(full), path.Join(filepath.Base(full), rest) {
		info, err := os.Stat(full)
		if err == nil && info.IsDir() {
			return place{dir: id.number(info, func() ([]fs.DirEntry, error) { return os.ReadDir(full) }), rest: rest}
		}
		if filepath.Dir(full) == full {
			return place{dir: -1, rest: rest}
		}
	}
}

// number returns the index of a directory. Directories have no hard links, so equal identities mean
// the same directory.
func (id *identity) number(info fs.FileInfo, read func() ([]fs.DirEntry, error)) int {
	same := func(d *directory) bool { return os.SameFile(d.info, info) }
	if i := slices.IndexFunc(id.dirs, same); i >= 0 {
		return i
	}
	id.dirs = append(id.dirs, &directory{info: info, read: read})
	return len(id.dirs) - 1
}

// Real resolves the symbolic links of a system path, whose last parts need not exist.
func Real(name string) (string, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if why := relpath.TooLong(full); why != "" {
		return "", fmt.Errorf("the path %s %s", relpath.Show(full), why)
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(full)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		above := filepath.Dir(full)
		if above == full {
			return filepath.Join(full, rest), nil
		}
		full, rest = above, filepath.Join(filepath.Base(full), rest)
	}
}

// real is Real, except that it returns a path that cannot be resolved unchanged.
func real(name string) string {
	if full, err := Real(name); err == nil {
		return full
	}
	return name
}
