//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

// #include "call.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Errors of this package itself wrap one of these.
var (
	ErrArgument = errors.New("tvmffi: invalid argument")
	ErrKind     = errors.New("tvmffi: value of a different kind")
	ErrClosed   = errors.New("tvmffi: closed or released")
	ErrNotFound = errors.New("tvmffi: not found")
	ErrOpen     = errors.New("tvmffi: library cannot be loaded")
	ErrRuntime  = errors.New("tvmffi: needs libtvm_ffi: call LoadRuntime first")
)

func failf(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{kind}, args...)...)
}

// Error is the error of a tvm-ffi function. A callback of [NewFunc] that returns an Error fails
// with its Kind and Message.
type Error struct {
	Kind      string // as Python names it: ValueError, TypeError, RuntimeError ...
	Message   string
	Backtrace string // the innermost call first; may be empty
}

// Error returns the kind and the message.
func (e *Error) Error() string { return e.Kind + ": " + e.Message }

// raised converts the error of a reply, and releases it.
func raised(reply *C.struct_dlp_00000000_reply) error {
	address := uintptr(reply.bits)
	switch {
	case address != 0:
		defer C.dlp_00000000_release_object(C.uintptr_t(address))
		cell := bodyOf[C.struct_dlpackgen_tvm_ffi_error_cell](address)
		return &Error{textIn(&cell.kind), textIn(&cell.message), textIn(&cell.backtrace)}
	case reply.index != -1:
		return &Error{Kind: "RuntimeError",
			Message: fmt.Sprintf("status %d: the function left its error in another host, such as Python", reply.index)}
	case C.dlp_00000000_has_runtime() == 0:
		return &Error{Kind: "RuntimeError",
			Message: "the function failed; its message needs libtvm_ffi: call LoadRuntime first"}
	}
	return &Error{Kind: "RuntimeError", Message: "the function failed without an error"}
}

// bodyOf returns the address after the header of an object.
func bodyOf[T any](object uintptr) *T {
	head := *(*unsafe.Pointer)(unsafe.Pointer(&object))
	return (*T)(unsafe.Add(head, C.sizeof_struct_dlpackgen_tvm_ffi_object))
}

// textIn copies a C text.
func textIn(a *C.struct_dlpackgen_tvm_ffi_byte_array) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(a.data)), int(a.size)))
}
