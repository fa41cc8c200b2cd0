//go:build ignore && linux && cgo && !nodevice

package shm

/*
#cgo CFLAGS: -DDLPACKGEN_SHM_ENTRY=dlpackgen_shm_entry
#include "device_answer.h"
#include "dlpackgen_shm.h"

#define TABLE DLPACKGEN_SHM_ENTRY()

static int go_probe(answer *a) { return TABLE->device->probe(NULL, &a->error); }

static int go_pointer_attributes(uintptr_t address, answer *a) {
	dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
	const int code = TABLE->device->pointer_attributes((const void *)address, &p, &a->error);
	answer_pointer(a, &p);
	return code;
}

static int go_alloc(DLDataType dtype, int32_t ndim, const int64_t *shape, answer *a) {
	const dlpackgen_allocation r = {sizeof r, {kDLCPU, 0}, dtype, ndim, shape, NULL, 0};
	DLManagedTensorVersioned *tensor = NULL;
	const int code = TABLE->device->allocate(&r, &tensor, &a->error);
	a->tensor = (uintptr_t)tensor;
	return code;
}

static int go_free(uintptr_t t, answer *a) {
	return TABLE->device->deallocate((DLManagedTensorVersioned *)t, &a->error);
}

static int go_send(int socket, uintptr_t t, uint32_t flags, answer *a) {
	return TABLE->send(socket, (const DLTensor *)t, flags, &a->error);
}

static int go_receive(int socket, answer *a) {
	DLManagedTensorVersioned *tensor = NULL;
	const int code = TABLE->receive(socket, &tensor, &a->error);
	a->tensor = (uintptr_t)tensor;
	return code;
}

static int go_copy(uintptr_t to, uintptr_t from, answer *a) {
	const dlpackgen_stream none = {NULL, {kDLCPU, 0}, 0, 0};
	return TABLE->device->copy((const DLTensor *)to, (const DLTensor *)from, &none, &a->error);
}
*/
import "C"

import (
	"sync"
	"syscall"
	"unsafe"
)

// The flags are those of C.
var _ [C.DLPACKGEN_SHM_READ_ONLY]struct{} = [ReadOnly]struct{}{}

var answers = sync.Pool{New: func() any { return new(C.answer) }}

// failure converts a result to an error, and releases it.
func failure(code C.int, a *C.answer) error {
	var err error
	if code != 0 {
		err = &Error{Code: int(code), DriverCode: int(a.error.driver_code), Message: C.GoString(&a.error.text[0])}
	}
	answers.Put(a)
	return err
}

// tensorOf returns the tensor of a result.
func tensorOf(a *C.answer) ManagedPointer { return *(*ManagedPointer)(unsafe.Pointer(&a.tensor)) }

// Table returns the dlpackgen_shm_table, for code in C.
func Table() unsafe.Pointer { return unsafe.Pointer(C.dlpackgen_shm_entry()) }

// Probe reports whether this kernel shares memory.
func Probe() error {
	a := answers.Get().(*C.answer)
	return failure(C.go_probe(a), a)
}

// PointerAttributes finds the tensor that contains an address. Base and Size are 0 if no tensor of
// this package contains it.
func PointerAttributes(address uintptr) (Pointer, error) {
	a := answers.Get().(*C.answer)
	code := C.go_pointer_attributes(C.uintptr_t(address), a)
	p := Pointer{Device: Device{Type: int32(a._type), ID: int32(a.id)}, Ordinal: int(a.ordinal),
		Base: uintptr(a.base), Size: uintptr(a.size)}
	return p, failure(code, a)
}

// Allocate returns a DLManagedTensorVersioned that can be sent, its elements 0. The caller must
// call its deleter once, or Deallocate, on any goroutine, or pass it to a library, which does so.
func Allocate(d DataType, shape ...int64) (ManagedPointer, error) {
	a := answers.Get().(*C.answer)
	code := C.go_alloc(C.DLDataType{C.uint8_t(d.Code), C.uint8_t(d.Bits), C.uint16_t(d.Lanes)}, C.int32_t(len(shape)),
		(*C.int64_t)(unsafe.SliceData(shape)), a)
	tensor := tensorOf(a)
	return tensor, failure(code, a)
}

// Deallocate frees a tensor of Allocate or Receive; nil is permitted.
func Deallocate(tensor ManagedPointer) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_free(C.uintptr_t(uintptr(tensor)), a), a)
}

// Send sends a tensor over a Unix socket, such as a *net.UnixConn or an *os.File. The tensor is a
// DLTensor in C memory over all of a tensor of Allocate or Receive. The caller still owns it.
func Send(socket syscall.Conn, tensor TensorPointer, flags SendFlags) error {
	return ready(socket, syscall.RawConn.Write, func(fd uintptr, a *C.answer) C.int {
		return C.go_send(C.int(fd), C.uintptr_t(uintptr(tensor)), C.uint32_t(flags), a)
	}, func(*C.answer) {})
}

// Receive waits for a tensor from a peer, until the socket's deadline. It validates everything
// except the elements, which the peer may change at any time.
func Receive(socket syscall.Conn) (tensor ManagedPointer, err error) {
	err = ready(socket, syscall.RawConn.Read, func(fd uintptr, a *C.answer) C.int {
		return C.go_receive(C.int(fd), a)
	}, func(a *C.answer) { tensor = tensorOf(a) })
	return tensor, err
}

// ready makes a call when the socket is ready, repeats it if it was not, and stores the result.
func ready(socket syscall.Conn, wait func(syscall.RawConn, func(uintptr) bool) error,
	call func(uintptr, *C.answer) C.int, keep func(*C.answer)) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	a := answers.Get().(*C.answer)
	code := C.int(0)
	err = wait(raw, func(fd uintptr) bool {
		code = call(fd, a)
		for code == C.DLPACKGEN_SHM_WOULD_BLOCK && syscall.Errno(a.error.driver_code) == syscall.EINTR {
			code = call(fd, a)
		}
		return code != C.DLPACKGEN_SHM_WOULD_BLOCK
	})
	if err != nil {
		answers.Put(a)
		return err
	}
	keep(a)
	return failure(code, a)
}

// Copy copies all elements between two DLTensors in C memory.
func Copy(to, from TensorPointer) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_copy(C.uintptr_t(uintptr(to)), C.uintptr_t(uintptr(from)), a), a)
}
