package tree

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// identity decides which paths are one file; nothing else in this package compares paths for
// that. Two spellings are one file on disks that fold case or normalize Unicode, and where a
// directory on the way is a symbolic link. Only the disk can tell.
type identity struct {
	disk  disk
	dirs  []fs.FileInfo // each directory once
	known map[string]place
	files map[string]fs.FileInfo // nil for an absent file
}

// place is a path with its directory resolved. Two links to one file have two places.
type place struct {
	dir  int    // index in identity.dirs of the deepest directory that exists
	rest string // the part of the path below it
}

func newIdentity(d disk) *identity {
	return &identity{disk: d, known: map[string]place{}, files: map[string]fs.FileInfo{}}
}

// place resolves the directory of a path.
func (id *identity) place(name string) place {
	above := id.directory(path.Dir(name))
	return place{above.dir, path.Join(above.rest, path.Base(name))}
}

// isDir reports whether a directory stands at a path, and which one.
func (id *identity) isDir(name string) (dir int, exists bool) {
	at := id.directory(name)
	return at.dir, at.rest == ""
}

// directory resolves a path that is a directory or could become one.
func (id *identity) directory(name string) place {
	if at, known := id.known[name]; known {
		return at
	}
	info, err := id.disk.Stat(name)
	var at place
	switch {
	case err == nil && info.IsDir():
		at = place{dir: id.number(info)}
	case name == ".":
		at = place{dir: -1} // the output directory does not exist yet
	default: // absent, or an error that reading the file reports
		at = id.place(name)
	}
	id.known[name] = at
	return at
}

// number returns the index of a directory. A directory has no second hard link, so equal means
// the same.
func (id *identity) number(info fs.FileInfo) int {
	for i, seen := range id.dirs {
		if os.SameFile(seen, info) {
			return i
		}
	}
	id.dirs = append(id.dirs, info)
	return len(id.dirs) - 1
}

// same reports whether two paths are one file. Hard links of one directory count as one file
// too: nothing distinguishes them from two spellings of a name. An absent file has the
// spellings that a disk which folds case would give it.
func (id *identity) same(a, b string) bool {
	if a == b {
		return true
	}
	at, bt := id.place(a), id.place(b)
	if at.dir != bt.dir {
		return false
	}
	first, second := id.file(a), id.file(b)
	if first == nil && second == nil {
		return fold(at.rest) == fold(bt.rest)
	}
	return first != nil && second != nil && os.SameFile(first, second)
}

func (id *identity) file(name string) fs.FileInfo {
	info, known := id.files[name]
	if !known {
		if found, err := id.disk.Lstat(name); err == nil {
			info = found
		}
		id.files[name] = info
	}
	return info
}

// fold gives names that differ only in case one spelling.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// index finds paths by what they are instead of how they are spelled.
type index struct {
	*identity
	names map[int][]string // by directory
}

func (id *identity) index() *index { return &index{id, map[int][]string{}} }

func (x *index) add(name string) {
	dir := x.place(name).dir
	x.names[dir] = append(x.names[dir], name)
}

// find returns the path of the index that is the same file as name.
func (x *index) find(name string) (other string, found bool) {
	for _, other := range x.names[x.place(name).dir] {
		if x.same(name, other) {
			return other, true
		}
	}
	return "", false
}

// Real resolves the symbolic links of a path of the system, of which the last parts need not
// exist.
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

// sameFile reports whether two paths of the system are one file. The last link of a path is
// followed: what is written through one spelling must not replace what is read by the other.
func sameFile(a, b string) bool {
	a, errA := Real(a)
	b, errB := Real(b)
	return errA == nil && errB == nil && sameReal(a, b)
}

// sameReal is sameFile for paths without links.
func sameReal(a, b string) bool {
	first, errA := os.Lstat(a)
	second, errB := os.Lstat(b)
	if errA == nil && errB == nil {
		return os.SameFile(first, second)
	}
	return errA != nil && errB != nil && fold(a) == fold(b)
}
