//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

/*
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

// Library is a loaded library with tvm-ffi functions.
type Library struct {
	path string
	owner
}

// Open loads a library by its path, or by a name that the system's loader finds. For libraries that
// are linked with libtvm_ffi, first call [LoadRuntime], unless the loader finds libtvm_ffi. Errors:
// [ErrOpen], with the loader's text, and [ErrArgument] for a path with NUL.
func Open(path string) (*Library, error) {
	handle, err := open(path, false)
	if err != nil {
		return nil, err
	}
	l := &Library{path: path}
	l.own(handle)
	return l, nil
}

// LoadRuntime loads libtvm_ffi for the whole process, by its path, or with "" by its name. The
// library stays loaded. If it is already loaded, LoadRuntime does nothing. The wheel apache-tvm-ffi
// contains the library in tvm_ffi/lib. Errors: those of [Open].
func LoadRuntime(path string) error {
	if C.dlp_00000000_has_runtime() != 0 {
		return nil
	}
	if path == "" {
		path = runtimeName()
	}
	if _, err := open(path, true); err != nil {
		return err
	}
	if C.dlp_00000000_has_runtime() == 0 {
		return failf(ErrOpen, "%s: it is not libtvm_ffi", path)
	}
	return nil
}

// requireRuntime returns [ErrRuntime] if libtvm_ffi is not in the process.
func requireRuntime() error {
	if C.dlp_00000000_has_runtime() == 0 {
		return ErrRuntime
	}
	return nil
}

func open(path string, everywhere bool) (uintptr, error) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return 0, failf(ErrArgument, "%q is not a path", path)
	}
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	visible := C.int(0)
	if everywhere {
		visible = 1
	}
	opened := C.dlp_00000000_open_library(text, visible)
	if opened.handle == 0 {
		defer C.free(unsafe.Pointer(opened.text))
		return 0, failf(ErrOpen, "%s", C.GoString(opened.text))
	}
	return uintptr(opened.handle), nil
}

// Func looks up a function that the library exports as __tvm_ffi_NAME. It is valid until
// [Library.Close], and needs no release. Errors: [ErrNotFound], [ErrClosed].
func (l *Library) Func(name string) (*Func, error) {
	handle, open := l.get()
	switch {
	case !open:
		return nil, failf(ErrClosed, "library %s", l.path)
	case strings.IndexByte(name, 0) >= 0:
		return nil, failf(ErrNotFound, "%q in %s", name, l.path)
	}
	text := C.CString("__tvm_ffi_" + name)
	defer C.free(unsafe.Pointer(text))
	symbol := C.dlp_00000000_symbol_in(C.uintptr_t(handle), text)
	if symbol == 0 {
		return nil, failf(ErrNotFound, "%s exports no __tvm_ffi_%s", l.path, name)
	}
	return &Func{name: name, function: uintptr(symbol), owner: &l.owner}, nil
}

// Close unloads the library. Afterwards, its functions return [ErrClosed]. The library must not be
// in use: no running calls, no results, and no functions that it registered. Close never fails.
func (l *Library) Close() error {
	if handle := l.end(); handle != 0 {
		C.dlp_00000000_close_library(C.uintptr_t(handle))
	}
	return nil
}

// runtimeName returns the name with which the loader finds libtvm_ffi.
func runtimeName() string {
	switch runtime.GOOS {
	case "darwin":
		return "libtvm_ffi.dylib"
	case "windows":
		return "tvm_ffi.dll"
	}
	return "libtvm_ffi.so"
}
