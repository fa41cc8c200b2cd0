// Package gomod determines the import path of a folder from the nearest go.mod.
package gomod

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Reader determines import paths, and reads each go.mod once. It serves one goroutine.
type Reader struct{ files map[string]contents }

type contents struct {
	data []byte
	err  error
}

// ImportPath returns the import path of a folder, which need not exist yet, and the go.mod that
// determines it. Both are "" without a go.mod.
func (r *Reader) ImportPath(dir string) (importPath, file string, err error) {
	for root := dir; root != ""; root = parent(root) {
		name := filepath.Join(root, "go.mod")
		mod, err := r.read(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		below, err := filepath.Rel(root, dir)
		return path.Join(modulePath(mod), filepath.ToSlash(below)), name, err
	}
	return "", "", nil
}

// Candidates returns the go.mod files that can determine the import path of a folder: the nearest
// one, and the names of nearer ones, which do not exist.
func Candidates(dir string) (files []string) {
	for root := dir; root != ""; root = parent(root) {
		files = append(files, filepath.Join(root, "go.mod"))
		if _, err := os.Stat(files[len(files)-1]); err == nil {
			break
		}
	}
	return files
}

func (r *Reader) read(name string) ([]byte, error) {
	f, known := r.files[name]
	if !known {
		f.data, f.err = readRegular(name)
		if r.files == nil {
			r.files = map[string]contents{}
		}
		r.files[name] = f
	}
	return f.data, f.err
}

// readRegular reads a regular file. It rejects other files, such as pipes, which may have no end.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// parent returns the parent folder, or "" at the root.
func parent(dir string) string {
	if up := filepath.Dir(dir); up != dir {
		return up
	}
	return ""
}

// modulePath returns the path in the module directive of a go.mod, or "".
func modulePath(mod []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(mod))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "//")
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != "module" {
			continue
		}
		if unquoted, err := strconv.Unquote(fields[1]); err == nil {
			return unquoted
		}
		return fields[1]
	}
	return ""
}
