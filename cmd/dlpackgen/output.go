package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The two files that the user asks for by name, outside of the tree that
// generate keeps: what init and layout --svg write.

// createFile writes a file that must not exist yet.
func createFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return cannot("exists", "edit it, or remove it first", "%s is there already", name)
	}
	if err != nil {
		return cannot("io", "", "%v", err)
	}
	return fill(f, data, func() error { return nil })
}

// replaceFile writes a file, which stays as it was when that fails.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return cannot("io", "", "%v", err)
	}
	return fill(f, data, func() error {
		return errors.Join(os.Chmod(f.Name(), 0o644), os.Rename(f.Name(), name))
	})
}

// fill writes and closes a new file, and removes it if that or what follows fails.
func fill(f *os.File, data []byte, then func() error) error {
	_, err := f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = then()
	}
	if err != nil {
		return cannot("io", "", "%v", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
