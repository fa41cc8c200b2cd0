package tree

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// side is a file that a run writes for a build system, in a folder that the user selects: the
// depfile or the stamp.
type side struct {
	what      string // "depfile" or "stamp"
	named     string // as the user named it: a link to the file, or the file
	dir, name string // the file
	inside    string // its path from the output directory, or ""
	data      []byte
	pos       diag.Pos
	anew      bool // written by each run, for its time
}

// sideFiles returns the side files of a request, in the order in which they are written. The stamp
// is last, because it means that everything else succeeded.
func (w *want) sideFiles(req Request) (out []side, err error) {
	for _, s := range []side{{what: "depfile", name: req.Depfile}, {what: "stamp", name: req.Stamp, anew: true}} {
		if s.name == "" {
			continue
		}
		s.pos, s.named = diag.Pos{File: filepath.ToSlash(s.name)}, s.name
		s.dir, s.name = followed(s.named)
		if rel, err := filepath.Rel(real(w.out),
			filepath.Join(real(s.dir), s.name)); err == nil && filepath.IsLocal(rel) {
			s.inside = filepath.ToSlash(rel)
		}
		s.data = []byte(req.Tool.Version + " " + req.Tool.Digest + "\n")
		if !s.anew {
			s.data, err = depfileText(s.pos, cmp.Or(req.Stamp, w.at(w.lock).File), w.dependencies(req))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// dependencies returns the files in a depfile: the inputs, and on request the outputs. The stamp is
// written last, so an output is newer only if something else wrote it.
func (w *want) dependencies(req Request) []string {
	names := slices.Clone(w.inputs)
	if !req.DepfileOutputs {
		return names
	}
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		if !w.files[name].once {
			names = append(names, w.at(name).File)
		}
	}
	return names
}

// followed returns the folder and the name of the file at a path. A link is followed, because
// renaming a file to its name would replace it. A link that leads to no file is returned itself,
// and planSides rejects it.
func followed(name string) (dir, base string) {
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(name); err == nil {
			name = target
		}
	}
	return filepath.Dir(name), filepath.Base(name)
}

func (s side) path() string { return filepath.Join(s.dir, s.name) }

// planSides rejects invalid side files before anything is written: in a missing directory, or at
// the path of a directory, a pipe, a device or a link that leads to no file.
func (w world) planSides(want *want) error {
	for _, s := range want.sides {
		d, err := w.open(s.dir)
		if errors.Is(err, fs.ErrNotExist) && want.makes(s.inside) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fail(KindIO, s.pos, "create the folder first", "there is no folder %s for the %s",
				filepath.ToSlash(s.dir), s.what)
		}
		if err != nil {
			return failed(s.pos, err)
		}
		info, err := d.Lstat(s.name)
		d.Close()
		switch {
		case isAbsent(err):
		case err != nil:
			return failed(s.pos, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fail(KindConflict, s.pos, "remove the link, or give the "+s.what+" another name",
				"the %s must be a regular file, and this link does not lead to one", s.what)
		case !info.Mode().IsRegular():
			return fail(KindConflict, s.pos, "give the "+s.what+" another name", "the %s must be a regular file",
				s.what)
		}
	}
	return nil
}

// makes reports whether a run creates the directory of a path.
func (w *want) makes(inside string) bool {
	for name := range w.files {
		if slices.Contains(append(parents(name), "."), path.Dir(inside)) && inside != "" {
			return true
		}
	}
	return inside != "" && path.Dir(inside) == "."
}

// writeSides writes the side files. It does not rewrite a correct depfile. Ninja deletes the
// depfile after each run, so it is written even if no output changed.
func (w world) writeSides(want *want) error {
	for _, s := range want.sides {
		if err := w.writeSide(s); err != nil {
			out := want.notWritten(s.pos, err)
			if isDenied(err) {
				out.Findings[0].Hint = "make the folder writable for this user, or write the " + s.what +
					" to another one"
			}
			return out
		}
	}
	return nil
}

func (w world) writeSide(s side) error {
	d, err := w.open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if old, err := readAll(d, s.name, int64(len(s.data))); err == nil && bytes.Equal(old, s.data) && !s.anew {
		return nil
	}
	return put(d, s.name, s.data)
}

// depfileText returns the text of a depfile for make and ninja. Its target is the stamp or else the
// lock. Its dependencies are the config, the spec, each go.mod that was read and the program. All
// paths are relative to the current directory.
func depfileText(pos diag.Pos, target string, inputs []string) ([]byte, error) {
	var names []string
	for _, name := range append([]string{target}, inputs...) {
		if strings.ContainsAny(name, "\r\n") {
			return nil, fail(KindRequest, pos, "", "a depfile cannot name %q: there is a line break in it", name)
		}
		names = append(names, dep.Replace(filepath.ToSlash(name)))
	}
	text := strings.TrimSuffix(names[0]+": "+strings.Join(names[1:], " "), " ") + "\n"
	for _, name := range names[min(2, len(names)):] { // separate rules: make continues if a dependency no longer exists
		text += name + ":\n"
	}
	return []byte(text), nil
}

// dep escapes a path for make and ninja.
var dep = strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$")
