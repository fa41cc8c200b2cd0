//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"slices"
	"unsafe"
)

// Stream is the native handle of a stream, such as a cudaStream_t; 0 for host memory, and for the
// default stream of another device.
type Stream uintptr

// ExchangeAPI calls the functions of an exchange table, which a producer's type provides for its
// objects. Each call crosses into C once. An ExchangeAPI is a small value that may be copied; the
// table exists until the process ends.
//
// An object is the address of a PyObject, or of another object of the table, and must have exactly
// the type of the table. The functions of Python tables need the GIL, which belongs to a thread:
// call them in the goroutine that Python has called, or first lock the goroutine to its thread. The
// functions do not synchronize streams: use the data in the order of the stream that is returned
// with it.
//
// If such a function fails, its Python exception remains set on this thread: clear it, or return to
// Python with it. See [ExchangeAPI.Explained] for its text.
type ExchangeAPI struct {
	table   *DLPackExchangeAPI
	explain uintptr // a C function, or 0
}

// FindExchangeAPI finds the table to use, from the pointer to a table in a Python capsule
// "dlpack_exchange_api". It selects the first table with the major version of this package among
// this table and those that prev_api leads to. Before the version is checked, only the header is
// read.
//
// The errors are [ErrArgument] for an invalid pointer, [ErrVersion] if there is no table of this
// major version, and [ErrTable] if the chain does not end or a required function is missing. The
// function for borrowing is optional: without it, [ExchangeAPI.Borrow] uses owned tensors.
func FindExchangeAPI(newest *DLPackExchangeAPIHeader) (ExchangeAPI, error) {
	header := newest
	for range maxTables {
		switch {
		case header == nil && newest == nil:
			return ExchangeAPI{}, failf(ErrArgument, "no exchange table: the pointer is nil")
		case header == nil:
			return ExchangeAPI{}, failf(ErrVersion, "%v, with no older table; this package supports %d.x",
				newest.Version, MajorVersion)
		case uintptr(unsafe.Pointer(header))%unsafe.Alignof(*header) != 0:
			return ExchangeAPI{}, failf(ErrArgument, "no exchange table: the address %#x is not aligned",
				unsafe.Pointer(header))
		case header.Version.Major == MajorVersion:
			return complete((*DLPackExchangeAPI)(unsafe.Pointer(header)))
		}
		header = (*DLPackExchangeAPIHeader)(loadPtr(&header.PrevAPI))
	}
	return ExchangeAPI{}, failf(ErrTable,
		"no table of version %d among the first %d of the chain, which may be a cycle",
		MajorVersion, maxTables)
}

// complete checks that the required functions are present.
func complete(table *DLPackExchangeAPI) (ExchangeAPI, error) {
	missing := ""
	switch uintptr(0) {
	case table.ManagedTensorAllocator:
		missing = opNames[opAllocate]
	case table.ManagedTensorFromPyObjectNoSync:
		missing = opNames[opManaged]
	case table.ManagedTensorToPyObjectNoSync:
		missing = opNames[opWrap]
	case table.CurrentWorkStream:
		missing = opNames[opStream]
	default:
		return ExchangeAPI{table: table}, nil
	}
	return ExchangeAPI{}, failf(ErrTable, "its %s is NULL", missing)
}

// Explained returns the same table with a function explain, which provides the texts of errors. The
// table's C functions only return -1, and leave an exception set, as in Python. explain is a C
// function too,
//
//	void explain(void *error_ctx,
//	             void (*SetError)(void *error_ctx, const char *kind, const char *message))
//
// called on the same thread right after the failure. It calls SetError once, and keeps the
// exception set. Pass nil to remove it.
func (a ExchangeAPI) Explained(explain unsafe.Pointer) ExchangeAPI {
	a.explain = uintptr(explain)
	return a
}

// Raw returns the table itself; nil for the zero ExchangeAPI. The producer owns the table: do not
// modify it.
func (a ExchangeAPI) Raw() *DLPackExchangeAPI { return a.table }

// FromPyObject exports an object as an owned tensor into dst, which must not own a tensor yet.
// Errors: a [*CallError] of the table, and those of [Import].
func (a ExchangeAPI) FromPyObject(dst *Managed, object uintptr) error {
	if err := a.check(dst, object); err != nil {
		return err
	}
	return dst.answered(a.managed(object))
}

// ToPyObject converts a tensor to an object, and returns a new reference. It always takes ownership
// of the tensor, also on error: afterwards m is released, and only the object keeps the data alive.
// This is true for every table, although DLPack does not specify which side deletes a rejected
// tensor.
//
// Errors: [ErrReleased], [ErrNoMemory], a [*CallError].
func (a ExchangeAPI) ToPyObject(m *Managed) (object uintptr, err error) {
	if a.table == nil {
		return 0, errNoTable()
	}
	address, legacy, err := m.handOver()
	if err != nil {
		return 0, err
	}
	answer := a.wrap(address, legacy, m.tensor.flags)
	if err := failureOf(answer.failure); err != nil {
		return 0, err
	}
	return uintptr(answer.value), nil
}

// Alloc allocates an uninitialized tensor in the producer's memory into dst, which must not own a
// tensor yet. Errors: a [*CallError] of the table, those of [Import], and [ErrTable] if the result
// does not match the request or is read-only.
func (a ExchangeAPI) Alloc(dst *Managed, dtype DataType, device Device, shape ...int64) error {
	if err := a.check(dst, 1); err != nil {
		return err
	}
	if len(shape) > MaxNDim {
		return tooManyDimensions(len(shape))
	}
	if err := dst.answered(a.allocate(dtype, device, shape)); err != nil {
		return err
	}
	return dst.expect(dtype, device, shape)
}

// CurrentWorkStream returns the producer's current stream of a device; 0 for host memory, pinned or
// not, without a call.
func (a ExchangeAPI) CurrentWorkStream(device Device) (Stream, error) {
	if a.table == nil {
		return 0, errNoTable()
	}
	answer := a.stream(device)
	return Stream(answer.value), failureOf(answer.failure)
}

// handOver removes the tensor from m for a C function, and reports whether it is a legacy tensor.
func (m *Managed) handOver() (address uintptr, legacy bool, err error) {
	legacy = m.legacy
	if address = m.take(); address == 0 {
		return 0, false, failf(ErrReleased, "there is no tensor to convert")
	}
	return address, legacy, nil
}

func errNoTable() error { return failf(ErrArgument, "this ExchangeAPI has no table") }

// check rejects arguments that would crash C or leak a tensor.
func (a ExchangeAPI) check(dst *Managed, object uintptr) error {
	switch {
	case a.table == nil:
		return errNoTable()
	case object == 0:
		return failf(ErrArgument, "no object: its address is 0")
	case dst == nil:
		return failf(ErrArgument, "no Managed to fill: it is nil")
	case dst.owns():
		return errOwns()
	}
	return nil
}

// answered takes ownership of a tensor from a table.
func (m *Managed) answered(answer cAnswer) error {
	if err := failureOf(answer.failure); err != nil {
		return err
	}
	address := uintptr(answer.value)
	return m.Init((*DLManagedTensorVersioned)(loadPtr(&address)))
}

// expect releases a tensor that does not match the request, because the caller writes to it and
// relies on every property. The rules are those of C's dlpackgen_differs_(), here without a second
// crossing into C; tests/rules compares them.
func (m *Managed) expect(dtype DataType, device Device, shape []int64) error {
	t := m.Tensor()
	var err error
	switch {
	case t.DataType() != dtype || !slices.Equal(t.Shape(), shape) || !sameDevice(device, t.Device()):
		err = failf(ErrTable, "requested %v %v on %v, got %v %v on %v", dtype, slices.Clone(shape), device,
			t.DataType(), slices.Clone(t.Shape()), t.Device())
	case t.IsReadOnly():
		err = failf(ErrTable, "the new tensor is read-only")
	case t.IsPadded() && dtype.Bits < packedBelow:
		err = failf(ErrTable, "the elements of the new tensor are padded")
	case !t.IsContiguous():
		err = failf(ErrTable, "the new tensor has strides %v for shape %v", slices.Clone(t.Strides()),
			slices.Clone(shape))
	}
	if err != nil {
		m.Release()
	}
	return err
}

// sameDevice does not compare ids of managed memory, on which producers disagree.
func sameDevice(a, b Device) bool {
	return a.Type == b.Type && (a.ID == b.ID || a.Type.isManaged())
}

// opNames are the names of the functions, by their numbers in C.
var opNames = [...]string{
	opAllocate: "managed_tensor_allocator",
	opManaged:  "managed_tensor_from_py_object_no_sync",
	opWrap:     "managed_tensor_to_py_object_no_sync",
	opBorrow:   "dltensor_from_py_object_no_sync",
	opStream:   "current_work_stream",
}

// failureOf converts a failure from C to an error, or nil.
func failureOf(f *cFailure) error {
	if f == nil {
		return nil
	}
	defer freeFailure(f)
	call := callErrorOf(f)
	switch f.why {
	case failedMemory:
		return failf(ErrNoMemory, "no memory to call %s", call.Op)
	case failedVersion:
		return failf(ErrVersion, "a tensor that %s returned", call.Op)
	case failedNothing:
		call.Message = "it returned success without a result"
	case failedRejected:
		if call.Kind == "" && call.Message == "" {
			call.Message = "it reported no reason"
		}
	}
	return call
}
