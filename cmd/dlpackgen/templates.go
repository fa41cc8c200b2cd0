package main

import (
	"cmp"
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
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// templates returns the template folder of a target that the config defines. The folder is read
// once, even if several targets name it.
func (j *job) templates(t config.Target) (*emit.Folder, error) {
	if t.Templates == "" {
		return nil, nil
	}
	if known := j.folders[t.Templates]; known != nil {
		return known, nil
	}
	all, err := j.readTemplates(t)
	if err != nil {
		return nil, err
	}
	if j.folders == nil {
		j.folders = map[string]*emit.Folder{}
	}
	if j.spent == nil {
		j.spent = &emit.Spent{}
	}
	j.folders[t.Templates] = &emit.Folder{Sources: all, Spent: j.spent}
	return j.folders[t.Templates], nil
}

// readTemplates reads the template folder of a target. Its subfolders are inputs too, because a new
// file changes only the folder.
func (j *job) readTemplates(t config.Target) ([]emit.Source, error) {
	folder := filepath.Join(j.dir, filepath.FromSlash(t.Templates))
	root, err := j.openTemplates(t)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var all []emit.Source
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err != nil {
			return noTemplate(file, "%v", err)
		}
		if name == "." || e.IsDir() && !isHidden(name) {
			j.read = append(j.read, file)
			return nil
		}
		return addSource(root, folder, name, e, &all)
	})
	if err == nil && !slices.ContainsFunc(all, func(s emit.Source) bool { return templated.MakesFile(s.Path) }) {
		err = noTemplate(folder,
			"no template in the folder of target %s generates a file: the name of one ends in .tmpl and "+
				"does not begin with _", t.Name)
	}
	for _, s := range all {
		j.read = append(j.read, s.File)
	}
	return all, err
}

// openTemplates opens a folder below that of the config. No part of its path may be a link, which
// would read and copy files from elsewhere.
func (j *job) openTemplates(t config.Target) (*os.Root, error) {
	folder := t.Templates
	base, err := os.OpenRoot(j.dir)
	if err != nil {
		return nil, noTemplate(j.dir, "%v", err)
	}
	defer base.Close()
	var part string
	for _, name := range strings.Split(folder, "/") {
		part = path.Join(part, name)
		info, err := base.Lstat(part)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("it must be a folder, not a file, link, pipe or device (%s)", info.Mode())
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, j.noFolder(t)
		}
		if err != nil {
			return nil, noTemplate(filepath.Join(j.dir, filepath.FromSlash(part)), "%v", err)
		}
	}
	root, err := base.OpenRoot(folder)
	if err != nil {
		return nil, noTemplate(filepath.Join(j.dir, filepath.FromSlash(folder)), "%v", err)
	}
	return root, nil
}

// noFolder returns the failure for a missing template folder, at its path in the config.
func (j *job) noFolder(t config.Target) error {
	hint := cmp.Or(similar(filepath.Join(j.dir, filepath.FromSlash(t.Templates))),
		"create it, with a file such as dlpack.rs.tmpl in it")
	return &failure{code: exitCannot, findings: []diag.Diagnostic{
		t.TemplatesFinding(hint, "target %s: there is no folder %s", t.Name, t.Templates)}}
}

// checkTemplateFolders rejects outputs in a template folder, because the next run would read them
// as templates. The paths in the config have been checked before, but not --out and links.
func (j *job) checkTemplateFolders(made []tree.Target) error {
	folders, err := j.templateFolders()
	if err != nil || len(folders) == 0 {
		return err
	}
	owners := map[string]string{} // by the folder of a file
	for _, t := range made {
		for _, f := range t.Files {
			name := j.name(path.Join(t.Path, f.Path))
			dir := filepath.Dir(name)
			if _, known := owners[dir]; !known {
				owners[dir] = ownerAbove(folders, dir)
			}
			if owners[dir] != "" {
				return inTemplates(name, owners[dir],
					"move the templates to a folder where no target writes, or pass another --out")
			}
		}
	}
	return nil
}

// checkSides rejects a depfile or a stamp in a template folder, because the next run would read it
// as a template.
func (j *job) checkSides(files ...string) error {
	folders, err := j.templateFolders()
	if err != nil {
		return err
	}
	for _, file := range files {
		if owner := ownerAbove(folders, file); file != "" && owner != "" {
			return inTemplates(file, owner, "write the depfile and the stamp to another folder")
		}
	}
	return nil
}

func inTemplates(file, owner, hint string) error {
	return &failure{code: exitCannot, findings: []diag.Diagnostic{{
		Severity: diag.Error, Code: "path-conflict", Pos: diag.Pos{File: file}, Hint: hint,
		Text: "this file would be written into the folder of the templates of target " + owner,
	}}}
}

// templateFolders returns the first target of each template folder, by the path without links.
func (j *job) templateFolders() (map[string]string, error) {
	folders, seen := map[string]string{}, map[string]bool{"": true}
	for _, own := range slices.Concat(j.config.Selected, j.config.Others) {
		if seen[own.Templates] {
			continue
		}
		seen[own.Templates] = true
		folder, err := tree.Real(filepath.Join(j.dir, filepath.FromSlash(own.Templates)))
		if err != nil {
			return nil, cannot("io", "", "%v", err)
		}
		folders[folder] = own.Name
	}
	return folders, nil
}

// ownerAbove returns the target whose folder contains a path, or "". A path that cannot be resolved
// is reported when it is written.
func ownerAbove(folders map[string]string, name string) string {
	real, err := tree.Real(name)
	if err != nil || len(folders) == 0 {
		return ""
	}
	for ; ; real = filepath.Dir(real) {
		if owner := folders[real]; owner != "" || filepath.Dir(real) == real {
			return owner
		}
	}
}

// isHidden reports whether a file is not an input: a hidden file, or a backup file of an editor.
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
	return withinFolder(folder, *all)
}

// withinFolder rejects a folder whose total size is too large.
func withinFolder(folder string, all []emit.Source) error {
	total := 0
	for _, s := range all {
		total += len(s.Data)
	}
	if total > templated.MaxFolder {
		return noTemplate(folder, "the files of the folder have more than %d bytes in total", templated.MaxFolder)
	}
	return nil
}

// reason returns the system's error text.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// noTemplate returns the failure for a template folder, or a file in it, that cannot be used. An
// error of the system is shortened to its reason: the finding's position already contains the path.
func noTemplate(file, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = reason(err)
		}
	}
	return &failure{code: exitCannot, findings: []diag.Diagnostic{{
		Severity: diag.Error, Code: "template-file", Pos: diag.Pos{File: file}, Text: fmt.Sprintf(format, args...),
	}}}
}
