package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// finding returns the finding of an error, whose code is the word of the kind.
func finding(kind Kind, pos diag.Pos, hint, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: kind.String(), Pos: pos, Text: fmt.Sprintf(format, args...),
		Hint: hint}
}

func fail(kind Kind, pos diag.Pos, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Findings: []diag.Diagnostic{finding(kind, pos, hint, format, args...)}}
}

// orNil returns the error, or nil without findings.
func (e *Error) orNil() error {
	if len(e.Findings) == 0 {
		return nil
	}
	return e
}

// failed converts an I/O error to an error of the run.
func failed(pos diag.Pos, err error) *Error {
	out := fail(KindIO, pos, "", "%s", reason(err))
	if errors.Is(err, errEscapes) {
		out = fail(KindEscape, pos,
			"replace the symbolic link with a real directory or file, or move the output directory", "%s", reason(err))
	}
	for is, hint := range remedies {
		if errors.Is(err, is) {
			out.Findings[0].Hint = hint
		}
	}
	out.Err = err
	return out
}

// remedies are hints for system errors.
var remedies = map[error]string{
	fs.ErrPermission:     "grant this user access to it",
	syscall.ENOTDIR:      "a file has the name of a folder: move the file, or choose another path",
	syscall.ENAMETOOLONG: "choose a shorter path",
	syscall.ELOOP:        "remove the symbolic link that leads to itself",
	syscall.ENOSPC:       "free space on the disk",
	syscall.EMFILE:       "raise the limit on open files: ulimit -n",
}

// isDenied reports whether an error is caused by missing permissions or a read-only file system.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// notWritten returns the error of a failed write. If the folder does not permit writing, the error
// names the folder, because the file may be a temporary or a record that the user does not know.
func (w *want) notWritten(pos diag.Pos, err error) *Error {
	out := failed(pos, err)
	if !isDenied(err) {
		return out
	}
	verb := "generate"
	if w.clean {
		verb = "clean"
	}
	d := &out.Findings[0]
	d.Pos = diag.Pos{File: path.Dir(pos.File)}
	d.Text = fmt.Sprintf("cannot write %s to %s: %s", path.Base(pos.File), thisFolder(d.Pos.File), reason(err))
	d.Hint = verb + " writes files, the lock and temporary files there: make the folder writable for this user, or " +
		"choose another one with --out DIR"
	return out
}

// thisFolder also names the current directory.
func thisFolder(name string) string {
	if full, err := filepath.Abs(name); err == nil && name == "." {
		return "this folder, " + filepath.ToSlash(full)
	}
	return "this folder"
}

// reason returns a system error without its path, which is relative to the output directory or that
// of a temporary. The finding's position contains the right path.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, errEscapes):
		return "a symbolic link in the path leads out of the output directory"
	case errors.As(err, &path):
		return fmt.Sprintf("%v (%s)", path.Err, path.Op)
	case errors.As(err, &link):
		return fmt.Sprintf("%v (%s)", link.Err, link.Op)
	}
	return err.Error()
}
