//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// Global looks up a registered function by its name, such as "ffi.ModuleLoadFromFile". Release the
// function. Errors: [ErrNotFound], [ErrRuntime].
func Global(name string) (*Func, error) {
	if err := requireRuntime(); err != nil {
		return nil, err
	}
	reply := C.dlp_00000000_global((*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.size_t(len(name)))
	if reply.index >= 0 && reply.bits == 0 {
		return nil, failf(ErrNotFound, "no global function %q is registered", name)
	}
	return wrapFunc(name, &reply)
}

// wrapFunc converts a function object to a Func, and takes over its reference.
func wrapFunc(name string, reply *C.struct_dlp_00000000_reply) (*Func, error) {
	v, err := finish(*reply)
	if err != nil {
		return nil, err
	}
	return funcOf(name, v), nil
}

func funcOf(name string, v Value) *Func {
	cell := bodyOf[C.struct_dlpackgen_tvm_ffi_function_cell](uintptr(v.bits))
	function := *(*uintptr)(unsafe.Pointer(&cell.safe_call))
	return &Func{name: name, function: function, object: true, owner: (*owner)(v.ptr)}
}

// Func returns a function with a new reference. Release the function. Errors: [ErrKind],
// [ErrClosed].
func (v Value) Func() (*Func, error) {
	if _, err := v.object("function", isFunction); err != nil {
		return nil, err
	}
	kept, err := v.Retain()
	if err != nil {
		return nil, err
	}
	return funcOf("of a value", kept), nil
}

// Release releases the reference to a function object; further calls do nothing. Functions of a
// library have no reference.
func (f *Func) Release() {
	if !f.object {
		return
	}
	if address := f.owner.end(); address != 0 {
		C.dlp_00000000_release_object(C.uintptr_t(address))
	}
}

// Object returns a function object with a new reference, which can be passed, registered and
// returned. Release the object. The object of a library's function must not outlive the library.
// Errors: [ErrClosed], [ErrRuntime].
func (f *Func) Object() (*Func, error) {
	address, open := f.owner.get()
	switch {
	case !open:
		return nil, failf(ErrClosed, "function %s", f.name)
	case f.object:
		C.dlp_00000000_retain_object(C.uintptr_t(address))
		kept, err := objectOf(packed{index: isFunction, bits: uint64(address)}, true)
		return funcOf(f.name, kept), err
	}
	if err := requireRuntime(); err != nil {
		return nil, err
	}
	reply := C.dlp_00000000_function_of(C.uintptr_t(f.function))
	return wrapFunc(f.name, &reply)
}

// GlobalFlags are the options of [SetGlobal].
type GlobalFlags uint32

// Replace replaces the function of a name that is in use.
const Replace GlobalFlags = 1

// SetGlobal registers a function object under a name, permanently and for the whole process.
// Errors: [ErrRuntime], [ErrArgument] for a function that is not an object and for unknown flags,
// and [*Error] if the name is in use, without [Replace].
func SetGlobal(name string, f *Func, flags GlobalFlags) error {
	if err := requireRuntime(); err != nil {
		return err
	}
	v := Function(f)
	if v.index == noFunc {
		return failf(ErrArgument, "%s", reasons[v.index])
	}
	if flags&^Replace != 0 {
		return failf(ErrArgument, "unknown flags %#x", uint32(flags&^Replace))
	}
	reply := C.dlp_00000000_register((*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.size_t(len(name)),
		C.uintptr_t(v.bits), C.int(flags&Replace))
	runtime.KeepAlive(f)
	_, err := finish(reply)
	return err
}

// LoadModule loads a module through tvm-ffi's own loader. Libraries that TVM compiled need this
// loader, because their functions call others by name. Look up functions with [ModuleFunc]. Errors:
// [ErrRuntime], [ErrNotFound] and [*Error].
func LoadModule(path string) (Value, error) {
	return callGlobal("ffi.ModuleLoadFromFile", String(path))
}

// ModuleFunc looks up a function of a module, including its imported modules. Release the function.
// Errors: [ErrNotFound], [ErrRuntime] and [*Error], also for a value that is not a module.
func ModuleFunc(module Value, name string) (*Func, error) {
	found, err := callGlobal("ffi.ModuleGetFunction", module, String(name), Bool(true))
	if err != nil {
		return nil, err
	}
	if found.IsNone() {
		return nil, failf(ErrNotFound, "the module has no function %q", name)
	}
	defer found.Release()
	return found.Func()
}

// Array returns an array of values. Release the array. Errors: [ErrRuntime], and those of
// [Func.Call].
func Array(items ...Value) (Value, error) { return callGlobal("ffi.Array", items...) }

func callGlobal(name string, args ...Value) (Value, error) {
	f, err := Global(name)
	if err != nil {
		return Value{}, err
	}
	defer f.Release()
	return f.Call(args...)
}

// NewFunc returns a function object for a Go function. It may be called on any thread, and on
// several at once. Release the object; the Go function is kept until its last owner releases it.
//
// Arguments are borrowed until the function returns; use [Value.Retain] to keep one. The result and
// its reference are passed to the caller. An error fails the call, with the Kind and Message of an
// [*Error], or as a RuntimeError. A panic is a RuntimeError. The function must not call
// runtime.Goexit. Error: [ErrRuntime].
func NewFunc(f func(args []Value) (Value, error)) (*Func, error) {
	if f == nil {
		return nil, failf(ErrArgument, "the function is nil")
	}
	if err := requireRuntime(); err != nil {
		return nil, err
	}
	handle := cgo.NewHandle(f)
	reply := C.dlp_00000000_function_of_go(C.uintptr_t(handle))
	if reply.index < 0 {
		handle.Delete()
	}
	return wrapFunc("of Go", &reply)
}

//export dlp_00000000_tvmffi_deleted
func dlp_00000000_tvmffi_deleted(handle C.uintptr_t) { cgo.Handle(handle).Delete() }

// C calls it for a Go function. A panic must not unwind C frames.
//
//export dlp_00000000_tvmffi_called
func dlp_00000000_tvmffi_called(handle, args C.uintptr_t, count C.int32_t, result C.uintptr_t) C.int {
	if err := called(cgo.Handle(handle), uintptr(args), int(count), uintptr(result)); err != nil {
		raise(err)
		return -1
	}
	return 0
}

func called(handle cgo.Handle, args uintptr, count int, result uintptr) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	values := make([]Value, count)
	for i, p := range unsafe.Slice(*(**packed)(unsafe.Pointer(&args)), count) {
		if values[i], err = valueOf(p, false); err != nil {
			return err
		}
	}
	made, err := handle.Value().(func([]Value) (Value, error))(values)
	if err != nil {
		return err
	}
	p, err := made.give()
	if err == nil {
		**(**packed)(unsafe.Pointer(&result)) = p
	}
	return err
}

// give passes a result to the caller of a callback.
func (v Value) give() (packed, error) {
	switch {
	case v.index < 0 || v.index == isDLTensor:
		return packed{}, failf(ErrArgument, "a callback returns tensors that NewTensor made")
	case v.index == rawText || v.index == rawBytes:
		return v.setText()
	case v.index < firstObject:
		return packed{index: v.index, bits: v.bits}, nil
	case v.ptr == nil: // an argument of the callback
		C.dlp_00000000_retain_object(C.uintptr_t(v.bits))
	default:
		if (*owner)(v.ptr).end() == 0 {
			return packed{}, failf(ErrClosed, "the result was released")
		}
	}
	return packed{index: v.index, bits: v.bits}, nil
}

func (v Value) setText() (packed, error) {
	bytes := C.int(0)
	if v.index == rawBytes {
		bytes = 1
	}
	reply := C.dlp_00000000_text_of((*C.char)(v.ptr), C.size_t(v.bits), bytes)
	if reply.index < 0 {
		return packed{}, raised(&reply)
	}
	return result(&reply), nil
}

// raise sets the error of this thread.
func raise(err error) {
	kind, message := "RuntimeError", err.Error()
	var known *Error
	if errors.As(err, &known) {
		kind, message = known.Kind, known.Message
	}
	k, m := C.CString(kind), C.CString(message)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(m))
	C.dlp_00000000_raise(k, m)
}
