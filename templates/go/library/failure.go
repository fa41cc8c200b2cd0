//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package main

// #include "trampolines.h"
import "C"

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// The statuses of failures without a status of their own. Statuses of errors are positive.
const (
	noStatus = -1
	panicked = -2
)

// statusOf returns the status for the result of a function. It stores the text of an error for C.
func statusOf(err error) C.int {
	if err == nil {
		return 0
	}
	status := dlpack.StatusOf(err)
	if status == 0 {
		status = noStatus
	}
	return failed(status, err.Error())
}

// recovered converts a panic to a failure of the call, because it must not unwind C frames.
func recovered(status *C.int) {
	if reason := recover(); reason != nil {
		*status = failed(panicked, fmt.Sprint("panic: ", reason, place()))
	}
}

// place returns the position of the panic in the innermost function outside the runtime and the
// bindings.
func place() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		of := frame.Function
		if !strings.HasPrefix(of, "runtime.") && !strings.HasPrefix(of, "dlpackgen.invalid/dlpack.") {
			return fmt.Sprintf(", at %s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
	return ""
}

// failed stores a text for C, where a NUL ends it and invalid UTF-8 is replaced, and returns the
// status.
func failed(status int32, text string) C.int {
	const cut = " ..."
	if most := C.dlp_00000000_TEXT - 1; len(text) > most {
		end := most - len(cut)
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + cut
	}
	C.dlp_00000000_fail((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	return C.int(status)
}

// maybeText returns a text that may be None.
func maybeText(text unsafe.Pointer) *string {
	if text == nil {
		return nil
	}
	copied := C.GoString((*C.char)(text))
	return &copied
}
