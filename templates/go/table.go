//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "table.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Producer says what differs in an exchange table from the defaults. Those are C
// functions that take [Object]s and never enter Go: for views, for managed
// tensors, for objects made of tensors, for new tensors on the CPU, and for the
// CPU's streams, of which it has none.
//
// The fields of type func replace a default by Go. They may be called from any
// thread, and at the same time; with Python's GIL held where Python calls, so
// they must not wait for what needs it. What they return as an error, or panic
// with, reaches the consumer as a failure of the table's function. They must
// not call runtime.Goexit, which ends the process.
type Producer struct {
	// Allocate makes a tensor that the consumer owns. shape is a copy.
	Allocate func(dtype DataType, device Device, shape []int64) (*DLManagedTensorVersioned, error)
	// FromPyObject makes a tensor over the memory of an object, which the consumer owns.
	FromPyObject func(object uintptr) (*DLManagedTensorVersioned, error)
	// ToPyObject makes an object of a tensor, which has been tested as [Import] tests it,
	// and takes it over. When it fails it must not have released the tensor, which
	// is then the consumer's again.
	ToPyObject func(m *Managed) (object uintptr, err error)
	// Borrow gives a view of an object, whose shape and strides lie in C memory and
	// live as long as the object.
	Borrow func(object uintptr) (DLTensor, error)
	// CurrentWorkStream returns the stream on which the producer works. Without it only the CPU
	// is known to have none, and other devices are an error.
	CurrentWorkStream func(device Device) (Stream, error)

	// Functions are C functions that replace defaults, by their addresses; 0 keeps
	// the default. Of the header only PrevAPI counts: an older table, for consumers
	// that do not know this one.
	Functions DLPackExchangeAPI

	// Raise is a C function of the type of SetError, called with a NULL error_ctx
	// before a function without a SetError of its own fails. Tables for Python need
	// one that sets Python's error. nil leaves it at the result -1.
	Raise unsafe.Pointer

	// Offset is where the consumer's objects hold the address of an Object, in bytes
	// after their beginning, for instance after a PyObject_HEAD. With 0 they are
	// Objects themselves.
	Offset int32
}

// maxProducers is the number of tables besides the plain one.
const maxProducers = C.dlp_00000000_TABLES

// producers are the hooks of the tables, by their numbers in C, from 1 on.
var producers struct {
	mu   sync.Mutex
	made int
	all  [maxProducers + 1]atomic.Pointer[Producer]
}

// NewExchangeAPI makes an exchange table in C memory, which lives as long as the
// process, for instance to be put into the capsule on a Python type. The zero
// Producer gives the same table each time; of others a package has room for 8, as
// C functions cannot know which table they were called through: make them once,
// for instance in package variables. Errors: [ErrArgument], and [ErrTable] when
// there is no more room.
func NewExchangeAPI(p Producer) (*DLPackExchangeAPI, error) {
	hooks, err := p.hooks()
	if err != nil {
		return nil, err
	}
	if p.plain(hooks) {
		return (*DLPackExchangeAPI)(unsafe.Pointer(C.dlp_00000000_table_plain())), nil
	}
	producers.mu.Lock()
	defer producers.mu.Unlock()
	if producers.made == maxProducers {
		return nil, failf(ErrTable,
			"all %d that this package has room for are made, and live as long as the process", maxProducers)
	}
	producers.made++
	producers.all[producers.made].Store(&p)
	return (*DLPackExchangeAPI)(unsafe.Pointer(C.dlp_00000000_table_new(C.int(producers.made), p.plan(hooks),
		(*C.DLPackExchangeAPI)(unsafe.Pointer(&p.Functions))))), nil
}

// hooks gives a bit for each hook in Go, and rejects what contradicts itself.
func (p *Producer) hooks() (bits uint32, err error) {
	for _, slot := range []struct {
		op       int
		hook     bool
		function uintptr
	}{
		{C.dlp_00000000_OP_ALLOCATE, p.Allocate != nil, p.Functions.ManagedTensorAllocator},
		{C.dlp_00000000_OP_MANAGED, p.FromPyObject != nil, p.Functions.ManagedTensorFromPyObjectNoSync},
		{C.dlp_00000000_OP_WRAP, p.ToPyObject != nil, p.Functions.ManagedTensorToPyObjectNoSync},
		{C.dlp_00000000_OP_BORROW, p.Borrow != nil, p.Functions.DLTensorFromPyObjectNoSync},
		{C.dlp_00000000_OP_STREAM, p.CurrentWorkStream != nil, p.Functions.CurrentWorkStream},
	} {
		if slot.hook && slot.function != 0 {
			return 0, failf(ErrArgument, "%s is given in Go and in C", opNames[slot.op])
		}
		if slot.hook {
			bits |= 1 << slot.op
		}
	}
	if p.Offset < 0 {
		return 0, failf(ErrArgument, "offset %d is negative", p.Offset)
	}
	return bits, nil
}

func (p *Producer) plain(hooks uint32) bool {
	functions := p.Functions
	functions.Header.Version = Version{}
	return hooks == 0 && functions == DLPackExchangeAPI{} && p.Raise == nil && p.Offset == 0
}

func (p *Producer) plan(hooks uint32) C.struct_dlp_00000000_plan {
	return C.struct_dlp_00000000_plan{
		hooks:  C.uint32_t(hooks),
		offset: C.int32_t(p.Offset),
		raise:  C.uintptr_t(uintptr(p.Raise)),
	}
}

// Object is what the defaults of a [Producer]'s table take for an object: the
// address of a tensor in C memory with a count of the references to it. Views
// and managed tensors are made of it in C alone, on any thread. A view has no flags,
// so of a tensor that is read-only or padded there are managed tensors alone; a
// legacy tensor is read-only here.
type Object uintptr

// NewObject makes an object of a tensor, with one reference, which is the
// caller's. It takes the tensor over also when it fails: m is released then. The
// last reference to go releases the tensor; consumers of managed tensors hold
// references of their own. Errors: [ErrReleased], [ErrNoMemory].
func NewObject(m *Managed) (Object, error) {
	address, legacy, err := m.handOver()
	if err != nil {
		return 0, err
	}
	object := C.dlp_00000000_object_new(loadPtr(&address), legacy, C.uint64_t(m.tensor.flags))
	if object == nil {
		C.dlp_00000000_delete_any(loadPtr(&address), legacy)
		return 0, failf(ErrNoMemory, "no room for an object")
	}
	return Object(unsafe.Pointer(object)), nil
}

// Retain adds a reference.
func (o Object) Retain() { C.dlp_00000000_object_retain(o.c()) }

// Release gives a reference back, and with the last one the tensor.
func (o Object) Release() { C.dlp_00000000_object_release(o.c()) }

func (o Object) c() *C.dlp_00000000_object {
	address := uintptr(o)
	return (*C.dlp_00000000_object)(loadPtr(&address))
}

// ObjectRelease is the address of a C function that does what [Object.Release]
// does, void release(void *object): for C code in other packages, such as a
// deallocator of Python, which should not enter Go.
func ObjectRelease() unsafe.Pointer { return unsafe.Pointer(C.dlp_00000000_object_release) }
