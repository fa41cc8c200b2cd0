package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// orNil gives the error, or nil where nothing was found.
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
	out.Err = err
	return out
}

// reason leaves out the path that an error of the system names: it is relative
// to the output directory, or a temporary's, and the finding's position is neither.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return fmt.Sprintf("%v (%s)", path.Err, path.Op)
	case errors.As(err, &link):
		return fmt.Sprintf("%v (%s)", link.Err, link.Op)
	}
	return err.Error()
}
