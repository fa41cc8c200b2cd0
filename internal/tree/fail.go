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

// finding makes an error's finding; its code is the kind's word.
func finding(kind Kind, pos diag.Pos, hint, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: kind.String(), Pos: pos, Text: fmt.Sprintf(format, args...),
		Hint: hint}
}

func fail(kind Kind, pos diag.Pos, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Findings: []diag.Diagnostic{finding(kind, pos, hint, format, args...)}}
}

// orNil returns the error, or nil where nothing was found.
func (e *Error) orNil() error {
	if len(e.Findings) == 0 {
		return nil
	}
	return e
}

// failed turns an error of the disk into one of the run.
func failed(pos diag.Pos, err error) *Error {
	out := fail(KindIO, pos, "", "%s", reason(err))
	if errors.Is(err, errEscapes) {
		out = fail(KindEscape, pos,
			"replace the symbolic link by a real directory or file, or move the output directory", "%s", reason(err))
	}
	for is, hint := range remedies {
		if errors.Is(err, is) {
			out.Findings[0].Hint = hint
		}
	}
	out.Err = err
	return out
}

// remedies say what to do about errors of the system.
var remedies = map[error]string{
	fs.ErrPermission:     "give this user access to it",
	syscall.ENOTDIR:      "a file stands where a folder is needed: move it away, or give another path",
	syscall.ENAMETOOLONG: "give a shorter path",
	syscall.ELOOP:        "remove the symbolic link that leads to itself",
	syscall.ENOSPC:       "make room on the disk",
	syscall.EMFILE:       "raise the limit of open files: ulimit -n",
}

// isDenied tells a folder or a file system that does not let this user in.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// notWritten places an error of writing. Where the folder does not permit it, the file's name may
// be that of a record or of no file that the user knows, so the folder is named.
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
		"give another one with --out DIR"
	return out
}

// thisFolder also says where the current directory is.
func thisFolder(name string) string {
	if full, err := filepath.Abs(name); err == nil && name == "." {
		return "this folder, " + filepath.ToSlash(full)
	}
	return "this folder"
}

// reason leaves out the path that an error of the system names: it is relative
// to the output directory, or a temporary's, and the finding's position is neither.
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
