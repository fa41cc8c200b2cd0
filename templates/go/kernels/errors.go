//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package kernels

// #include "call.h"
import "C"

import "unsafe"

// KernelError is a failed call: an argument that violates the description of the kernel, or a
// status of the C function.
type KernelError struct {
	Kernel   string
	Argument string // "" if the error concerns no argument or several
	Class    string // the exception that Python raises: TypeError, ValueError, BufferError ...
	Message  string // the same in every language
}

// Error returns the message.
func (e *KernelError) Error() string { return e.Message }

// failed converts and frees a failure of a kernel.
func failed(kernel string, f *C.struct_dlp_00000000_kernel_failure) error {
	e := &KernelError{Kernel: kernel, Argument: C.GoString(f.argument), Class: C.GoString(f.class_name),
		Message: C.GoString(&f.text[0])}
	C.dlp_00000000_kernel_forget(f)
	return e
}

// site is an argument, as messages name it.
type site struct{ kernel, argument, place string }

func (s site) fail(class, text string) error {
	return &KernelError{s.kernel, s.argument, class,
		s.kernel + "(): argument '" + s.argument + "' (" + s.place + "): " + text}
}

// pointerOf returns the address of a struct or of a list. A pointer to numbers is not searched for
// pointers by cgo.
func pointerOf(p unsafe.Pointer) *C.uint64_t { return (*C.uint64_t)(p) }
