package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// Files that the user names, outside of the tree of generate: the outputs of init and layout --svg.

// createFile writes a new file, and removes it if that fails.
func createFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return cannot("exists", "edit it, or remove it first", "%s already exists", name)
	}
	if err != nil {
		return notCreated(name, err)
	}
	if err := fill(f, data); err != nil {
		return cannot("io", "", "%v", errors.Join(err, os.Remove(name)))
	}
	return nil
}

// createFolder writes a new folder: under a temporary name first, so that the folder is complete or
// does not exist.
func createFolder(name string, files []emit.File) error {
	if _, err := os.Lstat(name); err == nil {
		return cannot("exists", "choose another name, or remove it first", "%s already exists", name)
	}
	fresh, err := os.MkdirTemp(".", "."+name+"-")
	if err != nil {
		return notCreated(name, err)
	}
	err = fillFolder(fresh, files)
	if err == nil {
		err = os.Rename(fresh, name)
	}
	if err != nil {
		return cannot("io", "", "%v", errors.Join(err, os.RemoveAll(fresh)))
	}
	return nil
}

func fillFolder(dir string, files []emit.File) error {
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // a project, for all to read
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		if err := createFile(path, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes to an existing or a new file, like a shell's >: it follows links, opens devices
// and keeps the mode of a file.
func writeFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return notCreated(name, err)
	}
	if err := fill(f, data); err != nil {
		return cannot("io", "", "%v", err)
	}
	return nil
}

// notCreated returns an error that names the folder, because the file may be a temporary one.
func notCreated(name string, err error) *failure {
	folder, absErr := filepath.Abs(filepath.Dir(name))
	if !errors.Is(err, fs.ErrPermission) || absErr != nil {
		return cannot("io", "", "%v", err)
	}
	return cannot("io", "make the file and its folder writable for this user, or choose another folder",
		"cannot write %s to the folder %s: %v", filepath.Base(name), folder, reason(err))
}

// fill writes and closes a file.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Close())
}
