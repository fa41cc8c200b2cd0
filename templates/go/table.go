//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Producer customizes an exchange table. The default functions are C functions for [Object]s that
// never enter Go: they create views, managed tensors, objects from tensors, and new tensors on the
// CPU, and report that host memory has no streams.
//
// The fields of type func replace a default with a Go function. They may be called from any thread,
// and concurrently. Python calls them with the GIL held, so they must not wait for code that needs
// the GIL. The consumer receives a returned error or a panic as a failure of the table's function.
// They must not call runtime.Goexit, which ends the process.
type Producer struct {
	// Allocate returns a tensor that the consumer owns. shape is a copy.
	Allocate func(dtype DataType, device Device, shape []int64) (*DLManagedTensorVersioned, error)
	// FromPyObject exports the memory of an object as a tensor that the consumer owns.
	FromPyObject func(object uintptr) (*DLManagedTensorVersioned, error)
	// ToPyObject converts a tensor, validated as by [Import], to an object, and takes ownership of
	// it. On error, it must not release the tensor, which the consumer then owns again.
	ToPyObject func(m *Managed) (object uintptr, err error)
	// Borrow returns a view of an object. Its shape and strides must be in C memory, and valid as
	// long as the object.
	Borrow func(object uintptr) (DLTensor, error)
	// CurrentWorkStream returns the producer's current stream. By default, host memory has no
	// stream, pinned or not, and other devices are an error.
	CurrentWorkStream func(device Device) (Stream, error)

	// Functions are addresses of C functions that replace defaults; 0 keeps the default. Of the
	// header, only PrevAPI is used: an older table, for consumers that do not support this one.
	Functions DLPackExchangeAPI

	// Raise is a C function of type SetError, called with a NULL error_ctx before a function
	// without a SetError parameter fails. Tables for Python need a function that sets the Python
	// exception. With nil, functions only return -1.
	Raise unsafe.Pointer

	// Offset is the position in the consumer's objects, in bytes, of the address of an Object, for
	// example after a PyObject_HEAD. With 0, the objects are Objects themselves.
	Offset int32
}

// producers are the hooks of the tables, by their numbers in C, starting at 1.
var producers struct {
	mu   sync.Mutex
	made int
	all  [maxProducers + 1]atomic.Pointer[Producer]
}

// NewExchangeAPI returns an exchange table in C memory, which exists until the process ends, for
// example for the capsule of a Python type. For the zero Producer, it always returns the same
// table. A package can have 8 other tables, because C functions do not receive the table through
// which they are called: create tables once, for example in package variables. Errors:
// [ErrArgument], and [ErrTable] if there are too many tables.
func NewExchangeAPI(p Producer) (*DLPackExchangeAPI, error) {
	hooks, err := p.hooks()
	if err != nil {
		return nil, err
	}
	if p.plain(hooks) {
		return plainTable(), nil
	}
	producers.mu.Lock()
	defer producers.mu.Unlock()
	if producers.made == maxProducers {
		return nil, failf(ErrTable,
			"a package can have %d tables, which exist until the process ends", maxProducers)
	}
	producers.made++
	producers.all[producers.made].Store(&p)
	return newTable(producers.made, hooks, &p), nil
}

// hooks returns a bit for each hook in Go, and rejects contradictory ones.
func (p *Producer) hooks() (bits uint32, err error) {
	for _, slot := range []struct {
		op       int
		hook     bool
		function uintptr
	}{
		{opAllocate, p.Allocate != nil, p.Functions.ManagedTensorAllocator},
		{opManaged, p.FromPyObject != nil, p.Functions.ManagedTensorFromPyObjectNoSync},
		{opWrap, p.ToPyObject != nil, p.Functions.ManagedTensorToPyObjectNoSync},
		{opBorrow, p.Borrow != nil, p.Functions.DLTensorFromPyObjectNoSync},
		{opStream, p.CurrentWorkStream != nil, p.Functions.CurrentWorkStream},
	} {
		if slot.hook && slot.function != 0 {
			return 0, failf(ErrArgument, "%s is set in Go and in C", opNames[slot.op])
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

// Object is an object of the default functions of a [Producer]'s table: the address of a
// reference-counted tensor in C memory. Views and managed tensors are created in C, on any thread.
// A view has no flags, so read-only and padded tensors can only be exported as managed tensors;
// legacy tensors count as read-only.
type Object uintptr

// NewObject converts a tensor to an object with one reference, which the caller owns. It takes
// ownership of the tensor, also on error, which releases m. The last reference releases the tensor;
// consumers of managed tensors hold their own references. Errors: [ErrReleased], [ErrNoMemory].
func NewObject(m *Managed) (Object, error) {
	address, legacy, err := m.handOver()
	if err != nil {
		return 0, err
	}
	object := newObject(loadPtr(&address), legacy, m.tensor.flags)
	if object == 0 {
		deleteAny(loadPtr(&address), legacy)
		return 0, failf(ErrNoMemory, "no memory for an object")
	}
	return object, nil
}

// Retain adds a reference.
func (o Object) Retain() { retainObject(o.address()) }

// Release removes a reference. The last one releases the tensor.
func (o Object) Release() { releaseObject(o.address()) }

func (o Object) address() unsafe.Pointer {
	address := uintptr(o)
	return loadPtr(&address)
}
