//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include <stdlib.h>
// #include "table.h"
import "C"

import (
	"errors"
	"fmt"
	"log"
	"runtime/cgo"
	"runtime/debug"
	"slices"
	"unsafe"
)

// The C deleter calls it for a tensor with OnRelease. A panic must not unwind the C frames of its
// callers, which could not handle it.
//
//export dlp_00000000_call_hook
func dlp_00000000_call_hook(hook C.uintptr_t) {
	defer func() {
		if reason := recover(); reason != nil {
			log.Printf("dlpack: panic in OnRelease: %v\n%s", reason, debug.Stack())
		}
	}()
	handle := cgo.Handle(hook)
	call := handle.Value().(func())
	handle.Delete()
	call()
}

// C calls the functions below for the hooks of a table. A panic must not reach C: on a C thread it
// would end the process, and otherwise it would unwind C frames.

//export dlp_00000000_hook_allocate
func dlp_00000000_hook_allocate(table C.int, prototype *C.DLTensor) (a cAnswer) {
	defer recovered(&a)
	t := (*DLTensor)(unsafe.Pointer(prototype))
	if t == nil {
		return rejection(failf(ErrArgument, "no prototype"))
	}
	if t.NDim < 0 || t.NDim > MaxNDim || t.NDim > 0 && t.Shape == 0 {
		return rejection(failf(ErrShape, "the prototype has no valid shape"))
	}
	made, err := hooksOf(table).Allocate(t.DType, t.Device, slices.Clone(dims(&t.Shape, t.NDim)))
	return answerOf(uintptr(unsafe.Pointer(made)), err)
}

//export dlp_00000000_hook_managed
func dlp_00000000_hook_managed(table C.int, object C.uintptr_t) (a cAnswer) {
	defer recovered(&a)
	made, err := hooksOf(table).FromPyObject(uintptr(object))
	return answerOf(uintptr(unsafe.Pointer(made)), err)
}

//export dlp_00000000_hook_wrap
func dlp_00000000_hook_wrap(table C.int, tensor *C.DLManagedTensorVersioned) (a cAnswer) {
	p := (*DLManagedTensorVersioned)(unsafe.Pointer(tensor))
	m := new(Managed)
	defer func() {
		if a.failure != nil {
			m.Detach() // the consumer owns it again
		}
	}()
	defer recovered(&a)
	if err := m.borrow(p); err != nil {
		return rejection(err)
	}
	object, err := hooksOf(table).ToPyObject(m)
	return answerOf(object, err)
}

//export dlp_00000000_hook_borrow
func dlp_00000000_hook_borrow(table C.int, object C.uintptr_t, out *C.DLTensor) (a cAnswer) {
	defer recovered(&a)
	tensor, err := hooksOf(table).Borrow(uintptr(object))
	if err != nil {
		return rejection(err)
	}
	*(*DLTensor)(unsafe.Pointer(out)) = tensor
	return a
}

//export dlp_00000000_hook_stream
func dlp_00000000_hook_stream(table C.int, device C.DLDevice) (a cAnswer) {
	defer recovered(&a)
	stream, err := hooksOf(table).CurrentWorkStream(*(*Device)(unsafe.Pointer(&device)))
	if err != nil {
		return rejection(err)
	}
	return cAnswer{value: C.uintptr_t(stream)}
}

func hooksOf(table C.int) *Producer { return producers.all[table].Load() }

// borrow is [Import], except that it does not delete a rejected tensor.
func (m *Managed) borrow(p *DLManagedTensorVersioned) error {
	if p == nil || uintptr(unsafe.Pointer(p))%unsafe.Alignof(*p) != 0 {
		return noStruct(unsafe.Pointer(p))
	}
	if p.Version.Major != MajorVersion {
		return otherVersion(p.Version)
	}
	tensor := Tensor{&p.DLTensor, p.Flags}
	if err := validate(tensor, p.Version.Minor < nullStridesBefore); err != nil {
		return err
	}
	m.own(uintptr(unsafe.Pointer(p)), false, tensor)
	return nil
}

// answerOf returns the answer of a hook whose success requires a result.
func answerOf(value uintptr, err error) cAnswer {
	switch {
	case err != nil:
		return rejection(err)
	case value == 0:
		return rejection(errors.New("the hook returned neither a result nor an error"))
	}
	return cAnswer{value: C.uintptr_t(value)}
}

// rejection copies an error to C memory, which C frees.
func rejection(err error) cAnswer {
	kind, message := PythonException(err), err.Error() // either may panic, and must not leave C memory behind
	return cAnswer{failure: C.dlp_00000000_rejection(0, C.CString(kind), C.CString(message))}
}

func recovered(a *cAnswer) {
	if cause := recover(); cause != nil {
		*a = rejection(fmt.Errorf("panic: %v", cause))
	}
}
