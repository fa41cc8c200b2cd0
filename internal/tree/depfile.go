package tree

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// depfile tells make and ninja what a run depends on: one target, the lock, and
// the config and spec as its inputs, all as seen from the current directory.
type depfile struct {
	dir, name string
	data      []byte
	pos       diag.Pos
}

// planDepfile refuses, before anything is written, a depfile that cannot be.
func (w world) planDepfile(want *want, req Request) (*depfile, error) {
	if req.Depfile == "" {
		return nil, nil
	}
	dep := &depfile{dir: filepath.Dir(req.Depfile), name: filepath.Base(req.Depfile), pos: diag.Pos{File: filepath.ToSlash(req.Depfile)}}
	text, err := dep.text(want.at(want.lock).File, req.Inputs)
	if err != nil {
		return nil, err
	}
	dep.data = text
	d, err := w.open(dep.dir)
	if err == nil {
		return dep, d.Close()
	}
	// The run itself may make its directory.
	if _, inside := want.inside(req.Depfile); inside && errors.Is(err, fs.ErrNotExist) {
		return dep, nil
	}
	return nil, failed(dep.pos, err)
}

func (dep *depfile) text(lock string, inputs []string) ([]byte, error) {
	var b bytes.Buffer
	for i, name := range append([]string{lock}, inputs...) {
		if strings.ContainsAny(name, "\r\n") {
			return nil, fail(KindRequest, dep.pos, "", "a depfile cannot name %q: there is a line break in it", name)
		}
		switch i {
		case 0:
		case 1:
			b.WriteString(": ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(escapeDep(filepath.ToSlash(name)))
	}
	if len(inputs) == 0 {
		b.WriteString(":")
	}
	b.WriteString("\n")
	return b.Bytes(), nil
}

// escapeDep spells a path as both make and ninja read it.
func escapeDep(name string) string {
	return strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$").Replace(name)
}

// writeDepfile keeps a depfile that is right already. Ninja takes it away after
// each run, so it is written also where no output has changed.
func (w world) writeDepfile(dep *depfile) (err error) {
	d, err := w.open(dep.dir)
	if err != nil {
		return failed(dep.pos, err)
	}
	defer d.Close()
	if old, err := readAll(d, dep.name, int64(len(dep.data))); err == nil && bytes.Equal(old, dep.data) {
		return nil
	}
	if err := put(d, dep.name, dep.data); err != nil {
		return failed(dep.pos, err)
	}
	return nil
}
