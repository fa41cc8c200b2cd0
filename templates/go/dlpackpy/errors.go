//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include <stdlib.h>
// #include "python.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Exception is an error that corresponds to a Python exception.
type Exception struct {
	Type    string // the name of a built-in class, such as ValueError
	Message string

	call   *Call  // during which Python raised it
	object Object // the exception that Python raised, valid during that call
}

// Error returns the type and the message.
func (e *Exception) Error() string { return e.Type + ": " + e.Message }

// fetch removes the current exception from Python.
func (c *Call) fetch() error {
	raised := C.dlp_00000000_py_fetch()
	defer C.free(unsafe.Pointer(raised.kind))
	defer C.free(unsafe.Pointer(raised.text))
	if raised.exception == 0 {
		return &Exception{Type: "SystemError", Message: "a function of Python failed without an exception"}
	}
	object := Object(raised.exception)
	c.raised = append(c.raised, object)
	return &Exception{Type: C.GoString(raised.kind), Message: C.GoString(raised.text), call: c, object: object}
}

// raise sets the Python exception for an error. An exception that Python raised during the call is
// its cause.
func raise(err error) {
	what, why, cause := describe(err)
	kind, text := C.CString(what), C.CString(why)
	defer C.free(unsafe.Pointer(kind))
	defer C.free(unsafe.Pointer(text))
	C.dlp_00000000_py_raise(kind, text, C.uintptr_t(cause))
}

// describe returns the type and text of the exception for an error. The error's methods may panic,
// for example those of a nil pointer that was returned as an error.
func describe(err error) (kind, text string, cause Object) {
	defer func() {
		if p := recover(); p != nil {
			kind, text, cause = "RuntimeError", fmt.Sprintf("the Error method of %T panicked: %v", err, p), 0
		}
	}()
	return kindOf(err), textOf(err), causeOf(err)
}

// causeOf returns the Python exception that an error wraps, if it still exists.
func causeOf(err error) Object {
	var e *Exception
	if errors.As(err, &e) && e.call != nil && e.call.c != nil {
		return e.object
	}
	return 0
}

func kindOf(err error) string {
	var e *Exception
	if errors.As(err, &e) {
		return e.Type
	}
	return dlpack.PythonException(err)
}

// textOf returns the text without the part that the type of the exception repeats.
func textOf(err error) string {
	text := err.Error()
	var e *Exception
	if errors.As(err, &e) {
		text = strings.Replace(text, e.Error(), e.Message, 1)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
