package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/templated"
)

// templates reads the folder of a target of the config's own. A root keeps links from leading out.
func (j *job) templates(t config.Target) ([]emit.Source, error) {
	if t.Templates == "" {
		return nil, nil
	}
	folder := filepath.Join(j.dir, filepath.FromSlash(t.Templates))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, noTemplate(folder, "%v", err)
	}
	defer root.Close()
	var all []emit.Source
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return noTemplate(filepath.Join(folder, filepath.FromSlash(name)), "%v", err)
		}
		if name == "." || e.IsDir() && !isHidden(name) {
			return nil
		}
		return addSource(root, folder, name, e, &all)
	})
	if err == nil && !slices.ContainsFunc(all, func(s emit.Source) bool { return strings.HasSuffix(s.Path, ".tmpl") }) {
		err = noTemplate(folder, "there is no template, whose name ends in .tmpl, in the folder of target %s", t.Name)
	}
	for _, s := range all {
		j.read = append(j.read, s.File)
	}
	return all, err
}

// isHidden tells what is no input: files of tools, and what editors leave behind.
func isHidden(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || strings.HasSuffix(base, "~")
}

// addSource reads one file of the folder.
func addSource(root *os.Root, folder, name string, e fs.DirEntry, all *[]emit.Source) error {
	file := filepath.Join(folder, filepath.FromSlash(name))
	switch {
	case isHidden(name) && e.IsDir():
		return fs.SkipDir
	case isHidden(name):
		return nil
	case !e.Type().IsRegular():
		return noTemplate(file, "it must be a regular file, not a link, pipe or device (%s)", e.Type())
	case len(*all) == templated.MaxFiles:
		return noTemplate(folder, "the folder has more than %d files", templated.MaxFiles)
	}
	f, err := root.Open(name)
	if err != nil {
		return noTemplate(file, "%v", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, templated.MaxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return noTemplate(file, "%v", err)
	}
	*all = append(*all, emit.Source{Path: name, File: file, Data: data})
	return nil
}

// noTemplate is a folder, or a file in it, that cannot be used.
func noTemplate(file, format string, args ...any) error {
	return &failure{code: exitCannot, findings: []diag.Diagnostic{{
		Severity: diag.Error, Code: "template-file", Pos: diag.Pos{File: file}, Text: fmt.Sprintf(format, args...),
	}}}
}
