package gobind

// #include <stdlib.h>
// #include "untrusted.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// UntrustedProducer is an object of a StrangeTable: two rows of three float32, which tests may
// damage. Free releases the memory.
type UntrustedProducer struct{ c *C.untrusted }

// NewUntrustedProducer creates one.
func NewUntrustedProducer() UntrustedProducer { return UntrustedProducer{C.untrusted_new()} }

// Free releases it.
func (s UntrustedProducer) Free() { C.free(unsafe.Pointer(s.c)) }

// Object returns its address, for the functions of a table.
func (s UntrustedProducer) Object() uintptr { return uintptr(unsafe.Pointer(s.c)) }

// Raw returns the tensor that its views copy.
func (s UntrustedProducer) Raw() *dlpack.DLTensor {
	return (*dlpack.DLTensor)(unsafe.Pointer(&s.c.tensor))
}

// Shape returns the memory of its shape.
func (s UntrustedProducer) Shape() []int64 {
	return unsafe.Slice((*int64)(&s.c.shape[0]), C.UNTRUSTED_NDIM)
}

// Strides returns the memory of its strides.
func (s UntrustedProducer) Strides() []int64 {
	return unsafe.Slice((*int64)(&s.c.strides[0]), C.UNTRUSTED_NDIM)
}

// SetVersion sets the version of its managed tensors.
func (s UntrustedProducer) SetVersion(v dlpack.Version) {
	s.c.major, s.c.minor = C.uint32_t(v.Major), C.uint32_t(v.Minor)
}

// SetFlags sets the flags of its managed tensors.
func (s UntrustedProducer) SetFlags(f dlpack.Flags) { s.c.flags = C.uint64_t(f) }

// SetFails makes its functions fail with a result, unless it is 0.
func (s UntrustedProducer) SetFails(rc int) { s.c.fails = C.int(rc) }

// SetNothing makes its functions succeed without a result.
func (s UntrustedProducer) SetNothing(nothing bool) {
	s.c.nothing = 0
	if nothing {
		s.c.nothing = 1
	}
}

// Counts returns how often it was borrowed, owned, and deleted by an owner.
func (s UntrustedProducer) Counts() (borrowed, owned, deleted int) {
	borrowed, owned = int(C.untrusted_count(&s.c.borrowed)), int(C.untrusted_count(&s.c.owned))
	return borrowed, owned, int(C.untrusted_count(&s.c.deleted))
}

// Habit is the behaviour of a foreign table's function without an object argument.
type Habit int

// The habits.
const (
	Behave            Habit = C.BEHAVE
	FailReportedOnce  Habit = C.FAIL_REPORTED_ONCE
	FailReportedTwice Habit = C.FAIL_REPORTED_TWICE
	FailUnreported    Habit = C.FAIL_UNREPORTED
	FailReportedNull  Habit = C.FAIL_REPORTED_NULL
	TellAndSucceed    Habit = C.TELL_AND_SUCCEED
	GiveNothing       Habit = C.GIVE_NOTHING
	Lie               Habit = C.LIE
	FailAndDelete     Habit = C.FAIL_AND_DELETE
)

// Habits are the current behaviours of all foreign tables.
type Habits struct{ Allocate, Wrap, Stream, Explain Habit }

// Set makes them the current behaviours.
func (h Habits) Set() {
	C.set_habits(C.habits{allocate: C.int(h.Allocate), wrap: C.int(h.Wrap), stream: C.int(h.Stream),
		explain: C.int(h.Explain)})
}

// StreamCalls counts the stream queries of foreign tables.
func StreamCalls() int { return int(C.stream_calls()) }

// NewStrangeTable creates a table over untrusted producers, which tests may damage.
func NewStrangeTable() *dlpack.DLPackExchangeAPI {
	return (*dlpack.DLPackExchangeAPI)(unsafe.Pointer(C.strange_table()))
}

// HeaderAlone returns the header of a table without further readable memory.
func HeaderAlone(major uint32) *dlpack.DLPackExchangeAPIHeader {
	return (*dlpack.DLPackExchangeAPIHeader)(unsafe.Pointer(C.header_alone(C.uint32_t(major))))
}

// FindTable opens a table with dlpackgen/tensor.h; nil if it rejects the table.
func FindTable(newest *dlpack.DLPackExchangeAPIHeader) *dlpack.DLPackExchangeAPI {
	var found *C.DLPackExchangeAPI
	C.find_table((*C.DLPackExchangeAPIHeader)(unsafe.Pointer(newest)), &found)
	return (*dlpack.DLPackExchangeAPI)(unsafe.Pointer(found))
}

// ExplainPending is a C function for ExchangeAPI.Explained.
func ExplainPending() unsafe.Pointer { return C.explain_pending }

// ExplainCalls counts its calls.
func ExplainCalls() int { return int(C.explain_calls()) }

// RaiseError is a C function for Producer.Raise, whose calls TakeRaised returns.
func RaiseError() unsafe.Pointer { return C.raise_error }

// Reported contains the calls of SetError: their number, and the last texts.
type Reported struct {
	Times         int
	Kind, Message string
}

func reportedOf(t *C.reported) Reported {
	return Reported{int(t.times), C.GoString(&t.kind[0]), C.GoString(&t.message[0])}
}

// TakeRaised returns the errors raised on this thread since the last call.
func TakeRaised() Reported {
	t := C.take_raised()
	return reportedOf(&t)
}

func table(api *dlpack.DLPackExchangeAPI) *C.DLPackExchangeAPI {
	return (*C.DLPackExchangeAPI)(unsafe.Pointer(api))
}

// CallBorrow calls a table's function from C, like the following functions.
func CallBorrow(api *dlpack.DLPackExchangeAPI, object uintptr) (t dlpack.DLTensor, rc int) {
	rc = int(C.call_borrow(table(api), C.uintptr_t(object), (*C.DLTensor)(unsafe.Pointer(&t))))
	return t, rc
}

// CallManaged returns a tensor that the caller owns.
func CallManaged(api *dlpack.DLPackExchangeAPI, object uintptr) (*dlpack.DLManagedTensorVersioned, int) {
	var out *C.DLManagedTensorVersioned
	rc := C.call_managed(table(api), C.uintptr_t(object), &out)
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(out)), int(rc)
}

// CallWrap returns an object.
func CallWrap(api *dlpack.DLPackExchangeAPI, p *dlpack.DLManagedTensorVersioned) (object uintptr, rc int) {
	var out unsafe.Pointer
	rc = int(C.call_wrap(table(api), (*C.DLManagedTensorVersioned)(unsafe.Pointer(p)), &out))
	return uintptr(out), rc
}

// CallStream returns a stream.
func CallStream(api *dlpack.DLPackExchangeAPI, device dlpack.Device) (stream uintptr, rc int) {
	var out unsafe.Pointer
	rc = int(C.call_stream(table(api), C.int32_t(device.Type), C.int32_t(device.ID), &out))
	return uintptr(out), rc
}

type prototype struct {
	tensor dlpack.DLTensor
	shape  [C.UNTRUSTED_NDIM]int64
}

// Prototype creates a tensor in C memory for an allocator; free it.
func Prototype(dtype dlpack.DataType, device dlpack.Device, shape ...int64) *dlpack.DLTensor {
	p := (*prototype)(C.calloc(1, C.size_t(unsafe.Sizeof(prototype{}))))
	copy(p.shape[:], shape)
	p.tensor = dlpack.DLTensor{Device: device, NDim: int32(len(shape)), DType: dtype,
		Shape: uintptr(unsafe.Pointer(&p.shape))}
	return &p.tensor
}

// PrototypeShape is the memory of a prototype's shape.
func PrototypeShape(t *dlpack.DLTensor) []int64 {
	return (*prototype)(unsafe.Pointer(t)).shape[:t.NDim]
}

// FreePrototype frees a Prototype.
func FreePrototype(t *dlpack.DLTensor) { C.free(unsafe.Pointer(t)) }

// CallAllocate returns the calls of SetError.
func CallAllocate(api *dlpack.DLPackExchangeAPI, prototype *dlpack.DLTensor) (*dlpack.DLManagedTensorVersioned, int,
	Reported) {
	var out *C.DLManagedTensorVersioned
	t := (*C.reported)(C.calloc(1, C.sizeof_reported))
	defer C.free(unsafe.Pointer(t))
	rc := C.call_allocate(table(api), (*C.DLTensor)(unsafe.Pointer(prototype)), &out, t)
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(out)), int(rc), reportedOf(t)
}

// CallAllocateSilently passes no SetError.
func CallAllocateSilently(api *dlpack.DLPackExchangeAPI,
	prototype *dlpack.DLTensor) (*dlpack.DLManagedTensorVersioned, int) {
	var out *C.DLManagedTensorVersioned
	rc := C.call_allocate_silently(table(api), (*C.DLTensor)(unsafe.Pointer(prototype)), &out)
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(out)), int(rc)
}

// CallOnThreads calls all functions of an object on threads that Go did not create, and returns the
// number of failures.
func CallOnThreads(api *dlpack.DLPackExchangeAPI, object uintptr, rounds, threads int) int {
	return int(C.call_on_threads(table(api), C.uintptr_t(object), C.int(rounds), C.int(threads)))
}

// Embedded is an object that contains another object's address after a header, like Python objects.
type Embedded struct{ c *C.embedded }

// EmbeddedOffset is its position.
const EmbeddedOffset = int32(unsafe.Offsetof(C.embedded{}.object))

// NewEmbedded creates one.
func NewEmbedded(object uintptr) Embedded {
	c := (*C.embedded)(C.calloc(1, C.sizeof_embedded))
	c.object = C.uintptr_t(object)
	return Embedded{c}
}

// Object returns its address.
func (e Embedded) Object() uintptr { return uintptr(unsafe.Pointer(e.c)) }

// Free releases it.
func (e Embedded) Free() { C.free(unsafe.Pointer(e.c)) }

// ManagedAt converts an object's address to a managed tensor's.
func ManagedAt(object uintptr) *dlpack.DLManagedTensorVersioned {
	return *(**dlpack.DLManagedTensorVersioned)(unsafe.Pointer(&object))
}
