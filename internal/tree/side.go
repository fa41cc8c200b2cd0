package tree

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// side is a file that a run writes for a build system, in a folder of the user's
// choice: the depfile or the stamp.
type side struct {
	what      string // "depfile" or "stamp"
	dir, name string
	data      []byte
	pos       diag.Pos
	anew      bool // written by each run, for its time
}

// sideFiles gives those that a request names, by what they are, in the order in which
// they are written: a stamp says that all else went well.
func (req Request) sideFiles() []side {
	var out []side
	for _, s := range []side{{what: "depfile", name: req.Depfile}, {what: "stamp", name: req.Stamp, anew: true}} {
		if s.name != "" {
			s.pos = diag.Pos{File: filepath.ToSlash(s.name)}
			s.dir, s.name = filepath.Dir(s.name), filepath.Base(s.name)
			out = append(out, s)
		}
	}
	return out
}

func (s side) path() string { return filepath.Join(s.dir, s.name) }

// planSides refuses, before anything is written, side files that cannot be.
func (w world) planSides(want *want, req Request) ([]side, error) {
	sides := req.sideFiles()
	for i := range sides {
		s := &sides[i]
		var err error
		if s.data, err = s.text(want, req); err != nil {
			return nil, err
		}
		if err := w.planSide(want, s); err != nil {
			return nil, err
		}
	}
	return sides, nil
}

// text gives what a side file says.
func (s side) text(want *want, req Request) ([]byte, error) {
	if s.anew {
		return []byte(req.Tool.Version + " " + req.Tool.Digest + "\n"), nil
	}
	target := want.at(want.lock).File
	if req.Stamp != "" {
		target = req.Stamp
	}
	return depfileText(s.pos, target, req)
}

func (w world) planSide(want *want, s *side) error {
	d, err := w.open(s.dir)
	if err == nil {
		defer d.Close()
		return s.checkOld(d)
	}
	// The run itself may make its directory.
	if name, inside := want.inside(s.path()); inside && errors.Is(err, fs.ErrNotExist) && want.makes(path.Dir(name)) {
		return nil
	}
	return failed(s.pos, err)
}

// checkOld refuses to replace a directory, a pipe or a device.
func (s side) checkOld(d disk) error {
	if info, err := d.Stat(s.name); err == nil && !info.Mode().IsRegular() {
		return fail(KindConflict, s.pos, "give the "+s.what+" another name", "the %s must be a regular file", s.what)
	}
	return nil
}

// writeSide keeps a depfile that is right already. Ninja takes it away after each run,
// so it is written also where no output has changed.
func (w world) writeSide(s side) error {
	d, err := w.open(s.dir)
	if err != nil {
		return failed(s.pos, err)
	}
	defer d.Close()
	if old, err := readAll(d, s.name, int64(len(s.data))); err == nil && bytes.Equal(old, s.data) && !s.anew {
		return nil
	}
	if err := put(d, s.name, s.data); err != nil {
		return failed(s.pos, err)
	}
	return nil
}
