package tree

import (
	"cmp"
	"path"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/order"
)

// Planned is a file that a run keeps up to date, or a starter file.
type Planned struct {
	Path   string // slashes, relative to Request.Out
	Target string // "" for the lock
	File   emit.File
}

// Plan lists the files of a request by path, with the lock as the last one. It does not access the
// disk: Check and Generate detect conflicts such as links.
func Plan(req Request) ([]Planned, error) {
	if _, err := newWant(req); err != nil {
		return nil, err
	}
	var all []Planned
	for _, t := range req.Targets {
		for _, f := range t.Files {
			all = append(all, Planned{Path: path.Join(t.Path, f.Path), Target: t.Name, File: f})
		}
	}
	order.By(all, func(p Planned) string { return p.Path })
	if slices.ContainsFunc(all, func(p Planned) bool { return !p.File.Once }) {
		all = append(all, Planned{Path: cmp.Or(req.Lock, DefaultLock)})
	}
	return all, nil
}
