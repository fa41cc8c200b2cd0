//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"errors"
	"fmt"
)

// The kinds of errors, for errors.Is. Exported functions return one of them wrapped in an [*Error]
// with the details.
var (
	ErrArgument      = errors.New("dlpack: invalid argument")
	ErrVersion       = errors.New("dlpack: unsupported major version of DLPack")
	ErrShape         = errors.New("dlpack: invalid shape or strides")
	ErrDataType      = errors.New("dlpack: unsuitable data type")
	ErrDevice        = errors.New("dlpack: memory that the host cannot read")
	ErrData          = errors.New("dlpack: invalid data pointer")
	ErrNotContiguous = errors.New("dlpack: elements are not C-contiguous")
	ErrReadOnly      = errors.New("dlpack: tensor is read-only")
	ErrIndex         = errors.New("dlpack: index out of range")
	ErrReleased      = errors.New("dlpack: tensor was released")
	ErrNoMemory      = errors.New("dlpack: out of C memory")
)

// Error is an error with its kind and details.
type Error struct {
	Err    error // one of the kinds above, or ErrTable
	Detail string
}

// Error returns the kind, followed by the details.
func (e *Error) Error() string { return e.Err.Error() + ": " + e.Detail }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Err }

func failf(kind error, format string, args ...any) error {
	return &Error{Err: kind, Detail: fmt.Sprintf(format, args...)}
}

func tooManyDimensions(n int) error {
	return failf(ErrShape, "%d dimensions; at most %d are supported", n, MaxNDim)
}

func otherVersion(v Version) error {
	return failf(ErrVersion, "%v; this package supports %d.x", v, MajorVersion)
}
