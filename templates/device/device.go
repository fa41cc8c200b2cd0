//go:build ignore && cgo && !nodevice

package device

/*
#cgo CFLAGS: -DDLPACKGEN_DEVICE_NAME_ENTRY=dlpackgen_device_entry
#cgo linux LDFLAGS: -ldl
#include "device_answer.h"
#include "dlpackgen_device_name.h"

#define TABLE dlpackgen_device_entry()

static int go_probe(answer *a) {
	dlpackgen_driver_info info = DLPACKGEN_DRIVER_INFO_INIT;
	const int code = TABLE->probe(&info, &a->error);
	a->version = info.version, a->devices = info.devices;
	return code;
}

static int go_pointer_attributes(uintptr_t address, answer *a) {
	dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
	const int code = TABLE->pointer_attributes((const void *)address, &p, &a->error);
	answer_pointer(a, &p);
	return code;
}

static int go_alloc(DLDevice device, DLDataType dtype, int32_t ndim, const int64_t *shape, uintptr_t stream,
                    uint64_t flags, answer *a) {
	const dlpackgen_allocation r = {sizeof r, device, dtype, ndim, shape, (void *)stream, flags};
	DLManagedTensorVersioned *tensor = NULL;
	const int code = TABLE->allocate(&r, &tensor, &a->error);
	a->tensor = (uintptr_t)tensor;
	return code;
}

static int go_free(uintptr_t t, answer *a) { return TABLE->deallocate((DLManagedTensorVersioned *)t, &a->error); }

static int go_stream(DLDevice device, int given, int64_t number, answer *a) {
	dlpackgen_stream s = {NULL, {kDLCPU, 0}, 0, 0};
	const int code = TABLE->stream_from_dlpack(device, given ? &number : NULL, &s, &a->error);
	a->handle = (uintptr_t)s.handle, a->id = s.device.device_id, a->unordered = s.flags & DLPACKGEN_STREAM_NO_SYNC;
	return code;
}

static int go_current(uintptr_t source, DLDevice device, answer *a) {
	dlpackgen_stream s = {NULL, {kDLCPU, 0}, 0, 0};
	const int code = TABLE->current_work_stream((const dlpackgen_stream_source *)source, device, &s, &a->error);
	a->handle = (uintptr_t)s.handle, a->id = s.device.device_id, a->unordered = s.flags & DLPACKGEN_STREAM_NO_SYNC;
	return code;
}

typedef struct stream {
	uintptr_t handle;
	int32_t device, unordered;
} stream;

static dlpackgen_stream go_handle(stream s) {
	const DLDevice device = {(DLDeviceType)TABLE->device_type, s.device};
	const dlpackgen_stream out = {(void *)s.handle, device, s.unordered ? DLPACKGEN_STREAM_NO_SYNC : 0, 0};
	return out;
}

static int go_order(stream consumer, stream producer, answer *a) {
	const dlpackgen_stream c = go_handle(consumer), p = go_handle(producer);
	return TABLE->stream_wait(&c, &p, &a->error);
}

static int go_keep(uintptr_t t, stream s, answer *a) {
	const dlpackgen_stream on = go_handle(s);
	return TABLE->keep_until((DLManagedTensorVersioned *)t, &on, &a->error);
}

static int go_copy(uintptr_t to, uintptr_t from, stream s, answer *a) {
	const dlpackgen_stream on = go_handle(s);
	return TABLE->copy((const DLTensor *)to, (const DLTensor *)from, &on, &a->error);
}

static int go_stream_synchronize(stream s, answer *a) {
	const dlpackgen_stream on = go_handle(s);
	return TABLE->stream_synchronize(&on, &a->error);
}
*/
import "C"

import (
	"sync"
	"unsafe"
)

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

// Table returns the dlpackgen_backend, for code in C.
func Table() unsafe.Pointer { return unsafe.Pointer(C.dlpackgen_device_entry()) }

// Probe loads the driver, if it is not loaded yet, and starts it.
func Probe() (DriverInfo, error) {
	a := answers.Get().(*C.answer)
	code := C.go_probe(a)
	info := DriverInfo{Version: int64(a.version), Devices: int(a.devices)}
	return info, failure(code, a)
}

// PointerAttributes queries the driver for the owner of the memory at an address. With an error,
// the result is undefined.
func PointerAttributes(address uintptr) (Pointer, error) {
	a := answers.Get().(*C.answer)
	return pointerOf(C.go_pointer_attributes(C.uintptr_t(address), a), a)
}

func pointerOf(code C.int, a *C.answer) (Pointer, error) {
	p := Pointer{Device: Device{Type: int32(a._type), ID: int32(a.id)}, Ordinal: int(a.ordinal),
		Base: uintptr(a.base), Size: uintptr(a.size)}
	return p, failure(code, a)
}

// Allocate returns a DLManagedTensorVersioned in C memory. The caller must call its deleter once,
// or Deallocate, on any goroutine, or pass it to a library, which does so.
func Allocate(r Allocation) (ManagedPointer, error) {
	a := answers.Get().(*C.answer)
	var flags C.uint64_t
	if r.PeerAccess {
		flags = C.DLPACKGEN_BACKEND_PEER_ACCESS
	}
	dtype := C.DLDataType{C.uint8_t(r.DType.Code), C.uint8_t(r.DType.Bits), C.uint16_t(r.DType.Lanes)}
	code := C.go_alloc(cDevice(r.Device), dtype, C.int32_t(len(r.Shape)), (*C.int64_t)(unsafe.SliceData(r.Shape)),
		C.uintptr_t(r.Stream), flags, a)
	tensor := *(*ManagedPointer)(unsafe.Pointer(&a.tensor))
	return tensor, failure(code, a)
}

func cDevice(d Device) C.DLDevice { return C.DLDevice{C.DLDeviceType(d.Type), C.int32_t(d.ID)} }

// Deallocate frees a tensor of Allocate; nil is permitted.
func Deallocate(tensor ManagedPointer) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_free(C.uintptr_t(uintptr(tensor)), a), a)
}

// StreamFromDLPack converts the stream number of `__dlpack__`.
func StreamFromDLPack(d Device, number int64) (Stream, error) { return fromDLPack(d, 1, number) }

// DefaultStream returns the stream that None stands for.
func DefaultStream(d Device) (Stream, error) { return fromDLPack(d, 0, 0) }

func fromDLPack(d Device, given C.int, number int64) (Stream, error) {
	a := answers.Get().(*C.answer)
	return found(C.go_stream(cDevice(d), given, C.int64_t(number), a), a)
}

// CurrentWorkStream returns the stream of a source for a device; for nil, the default stream.
func CurrentWorkStream(source StreamSource, d Device) (Stream, error) {
	a := answers.Get().(*C.answer)
	return found(C.go_current(C.uintptr_t(uintptr(source)), cDevice(d), a), a)
}

func found(code C.int, a *C.answer) (Stream, error) {
	s := Stream{Handle: uintptr(a.handle), Device: int(a.id), NoSync: a.unordered != 0}
	return s, failure(code, a)
}

func cStream(s Stream) C.stream {
	out := C.stream{handle: C.uintptr_t(s.Handle), device: C.int32_t(s.Device)}
	if s.NoSync {
		out.unordered = 1
	}
	return out
}

// StreamWait makes later work on consumer wait for the work that is queued on producer.
func StreamWait(consumer, producer Stream) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_order(cStream(consumer), cStream(producer), a), a)
}

// KeepUntil keeps the memory of a tensor of Allocate until the work that is now queued on the
// stream is done, even if its deleter is called earlier.
func KeepUntil(tensor ManagedPointer, s Stream) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_keep(C.uintptr_t(uintptr(tensor)), cStream(s), a), a)
}

// Copy copies all elements between two DLTensors in C memory. A DLTensor has no flags, so elements
// narrower than a byte count as packed: pass padded ones as bytes.
func Copy(to, from TensorPointer, s Stream) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_copy(C.uintptr_t(uintptr(to)), C.uintptr_t(uintptr(from)), cStream(s), a), a)
}

// StreamSynchronize waits until the work of a stream is done.
func StreamSynchronize(s Stream) error {
	a := answers.Get().(*C.answer)
	return failure(C.go_stream_synchronize(cStream(s), a), a)
}
