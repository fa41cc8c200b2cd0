package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"path/filepath"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/order"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// library lists the C files that a target collects, including those of targets that are not
// selected.
func (j *job) library(to config.Target, dir string, releases map[string]*spec.Release) (emit.Library, error) {
	all, err := j.emitted(dir, releases)
	if err != nil {
		return emit.Library{}, err
	}
	var made emit.Library
	sum := sha256.New()
	for _, t := range all {
		if !needed(t, all) {
			continue
		}
		folder, err := filepath.Rel(filepath.FromSlash(to.Path), filepath.FromSlash(t.Path))
		if err != nil {
			return emit.Library{}, cannotEmit(to.Name, err)
		}
		folder = filepath.ToSlash(folder)
		made.Folders = append(made.Folders, folder)
		made.Units = append(made.Units, units(t, folder, sum)...)
	}
	made.Digest = hex.EncodeToString(sum.Sum(nil))
	return made, nil
}

// emittedTarget is a target with its files.
type emittedTarget struct {
	config.Target
	files []emit.File
}

// emitted renders all targets that collect nothing, in an order that does not depend on the
// selection.
func (j *job) emitted(dir string, releases map[string]*spec.Release) (all []emittedTarget, err error) {
	for _, t := range slices.Concat(j.config.Selected, j.config.Others) {
		if t.Collects {
			continue
		}
		m, err := j.model(t, dir, releases)
		if err != nil {
			return nil, err
		}
		files, err := t.Emit(m)
		if err != nil {
			return nil, cannotEmit(t.Name, err)
		}
		all = append(all, emittedTarget{t, files})
	}
	order.By(all, func(t emittedTarget) string { return t.Name })
	return all, nil
}

// hasUnits reports whether a file of the target is compiled into the library.
func (t emittedTarget) hasUnits() bool {
	return slices.ContainsFunc(t.files, func(f emit.File) bool { return f.Unit })
}

// needed reports whether the library contains files of the target, or files that include its
// headers.
func needed(t emittedTarget, all []emittedTarget) bool {
	return t.hasUnits() || slices.ContainsFunc(all, func(other emittedTarget) bool {
		return other.hasUnits() && slices.Contains(slices.Concat(other.Needs, other.ContractNeeds), t.Name)
	})
}

// units lists the files to compile, and adds all C files of the target to the checksum.
func units(t emittedTarget, folder string, sum hash.Hash) (all []string) {
	for _, f := range t.files {
		if ext := path.Ext(f.Path); ext != ".c" && ext != ".h" {
			continue
		}
		fmt.Fprintf(sum, "%s %d\n%s", f.Path, len(f.Data), f.Data)
		if f.Unit {
			all = append(all, path.Join(folder, f.Path))
		}
	}
	return all
}
