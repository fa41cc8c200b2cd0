package tree

import (
	"errors"
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// finding makes an error's finding; its code is the kind's word.
func finding(kind Kind, pos diag.Pos, hint, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: kind.String(), Pos: pos, Text: fmt.Sprintf(format, args...), Hint: hint}
}

func fail(kind Kind, pos diag.Pos, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Findings: []diag.Diagnostic{finding(kind, pos, hint, format, args...)}}
}

// failed turns an error of the disk into one of the run. The paths that os.Root
// names in its errors are relative to the output directory, so pos says which.
func failed(pos diag.Pos, err error) *Error {
	var already *Error
	if errors.As(err, &already) {
		return already
	}
	out := fail(KindIO, pos, "", "%v", err)
	if errors.Is(err, errEscapes) {
		out = fail(KindEscape, pos, "replace the symbolic link by a real directory or file, or move the output directory", "%v", err)
	}
	out.Err = err
	return out
}
