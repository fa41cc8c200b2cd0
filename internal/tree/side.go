package tree

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// side is a file that a run writes for a build system, in a folder of the user's
// choice: the depfile or the stamp.
type side struct {
	what      string // "depfile" or "stamp"
	dir, name string
	inside    string // its path from the output directory, or ""
	data      []byte
	pos       diag.Pos
	anew      bool // written by each run, for its time
}

// sideFiles returns those that a request names, in the order in which they are written: a stamp
// says that all else went well.
func (w *want) sideFiles(req Request) (out []side, err error) {
	for _, s := range []side{{what: "depfile", name: req.Depfile}, {what: "stamp", name: req.Stamp, anew: true}} {
		if s.name == "" {
			continue
		}
		s.pos = diag.Pos{File: filepath.ToSlash(s.name)}
		s.dir, s.name = filepath.Dir(s.name), filepath.Base(s.name)
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

// dependencies returns what a depfile names: the inputs, and on request the outputs. The stamp is
// the last file of a run to be written, so an output is newer only where something else wrote it.
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

func (s side) path() string { return filepath.Join(s.dir, s.name) }

// planSides rejects, before anything is written, side files that cannot be: in no directory, or
// in the place of a directory, a pipe or a device.
func (w world) planSides(want *want) error {
	for _, s := range want.sides {
		d, err := w.open(s.dir)
		if errors.Is(err, fs.ErrNotExist) && want.makes(s.inside) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fail(KindIO, s.pos, "make the folder first", "there is no folder %s for the %s",
				filepath.ToSlash(s.dir), s.what)
		}
		if err != nil {
			return failed(s.pos, err)
		}
		info, err := d.Stat(s.name)
		d.Close()
		if err == nil && !info.Mode().IsRegular() {
			return fail(KindConflict, s.pos, "give the "+s.what+" another name", "the %s must be a regular file",
				s.what)
		}
	}
	return nil
}

// makes reports whether a run makes the directory of a path.
func (w *want) makes(inside string) bool {
	for name := range w.files {
		if slices.Contains(append(parents(name), "."), path.Dir(inside)) && inside != "" {
			return true
		}
	}
	return inside != "" && path.Dir(inside) == "."
}

// writeSides keeps a depfile that is right already. Ninja takes it away after each run,
// so it is written also where no output has changed.
func (w world) writeSides(want *want) error {
	for _, s := range want.sides {
		if err := w.writeSide(s); err != nil {
			out := want.notWritten(s.pos, err)
			if isDenied(err) {
				out.Findings[0].Hint = "make the folder writable for this user, or write the " + s.what + " to another one"
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

// depfileText tells make and ninja what a run depends on: one target, the stamp or else
// the lock, and the config, the spec, each go.mod that was read and the program as its
// inputs, all as seen from the current directory.
func depfileText(pos diag.Pos, target string, inputs []string) ([]byte, error) {
	var names []string
	for _, name := range append([]string{target}, inputs...) {
		if strings.ContainsAny(name, "\r\n") {
			return nil, fail(KindRequest, pos, "", "a depfile cannot name %q: there is a line break in it", name)
		}
		names = append(names, dep.Replace(filepath.ToSlash(name)))
	}
	text := strings.TrimSuffix(names[0]+": "+strings.Join(names[1:], " "), " ") + "\n"
	for _, name := range names[min(2, len(names)):] { // rules of their own: make goes on where one has moved away
		text += name + ":\n"
	}
	return []byte(text), nil
}

// dep spells a path as both make and ninja read it.
var dep = strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$")
