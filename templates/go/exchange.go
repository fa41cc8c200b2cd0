//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "exchange.h"
import "C"

import (
	"slices"
	"unsafe"
)

// Stream is the native handle of a stream, such as a cudaStream_t; 0 on a CPU,
// and for the default stream of another device.
type Stream uintptr

// ExchangeAPI calls the functions of an exchange table, which a producer's type
// offers for its objects. Each call is one crossing into C. It is a small value,
// to be copied freely; the table behind it lives as long as the process.
//
// An object is the address of a PyObject, or of whatever else the table is for,
// and must have exactly the type that the table was found on. The functions of
// Python's tables need the GIL, which belongs to a thread: call them from Go code
// that Python has called, and in the same goroutine, or lock the goroutine to
// its thread first. Nothing here waits for a stream: the data may be used in the
// order of the stream that comes with it.
//
// Where such a function fails, its Python error stays set on this thread: clear
// it, or return to Python with it. See [ExchangeAPI.Explained] for its text.
type ExchangeAPI struct {
	table   *DLPackExchangeAPI
	explain uintptr // a C function, or 0
}

// maxTables bounds the walk over older tables: a chain may be a ring.
const maxTables = 64

// FindExchangeAPI finds the table to use, from a pointer to a table as Python's
// capsule "dlpack_exchange_api" holds it. Of that one, and of those that its
// prev_api leads to, it takes the first with the major version of this package;
// nothing but the header is read before that is known.
//
// The errors are [ErrArgument] for what cannot be a table, [ErrVersion] when
// there is none of this major version, and [ErrTable] when the chain does not
// end or a function is missing that must be there. The function that lends views
// may be missing: [ExchangeAPI.Borrow] then works with tensors that it owns.
func FindExchangeAPI(newest *DLPackExchangeAPIHeader) (ExchangeAPI, error) {
	header := newest
	for range maxTables {
		switch {
		case header == nil && newest == nil:
			return ExchangeAPI{}, failf(ErrArgument, "no exchange table: the pointer is nil")
		case header == nil:
			return ExchangeAPI{}, failf(ErrVersion, "%v, with no older table; this package serves %d.x",
				newest.Version, MajorVersion)
		case uintptr(unsafe.Pointer(header))%unsafe.Alignof(*header) != 0:
			return ExchangeAPI{}, failf(ErrArgument, "no exchange table: the address %#x is not aligned",
				unsafe.Pointer(header))
		case header.Version.Major == MajorVersion:
			return complete((*DLPackExchangeAPI)(unsafe.Pointer(header)))
		}
		header = (*DLPackExchangeAPIHeader)(loadPtr(&header.PrevAPI))
	}
	return ExchangeAPI{}, failf(ErrTable, "none of version %d among the first %d of the chain, which may be a ring",
		MajorVersion, maxTables)
}

// complete tests that the functions are there which must be.
func complete(table *DLPackExchangeAPI) (ExchangeAPI, error) {
	missing := ""
	switch uintptr(0) {
	case table.ManagedTensorAllocator:
		missing = opNames[C.dlp_00000000_OP_ALLOCATE]
	case table.ManagedTensorFromPyObjectNoSync:
		missing = opNames[C.dlp_00000000_OP_MANAGED]
	case table.ManagedTensorToPyObjectNoSync:
		missing = opNames[C.dlp_00000000_OP_WRAP]
	case table.CurrentWorkStream:
		missing = opNames[C.dlp_00000000_OP_STREAM]
	default:
		return ExchangeAPI{table: table}, nil
	}
	return ExchangeAPI{}, failf(ErrTable, "its %s is NULL", missing)
}

// Explained gives the same table, for which explain gives the texts of errors
// that its functions leave pending, as Python's do: they are C functions that
// cannot say more than -1. explain is a C function too,
//
//	void explain(void *error_ctx,
//	             void (*SetError)(void *error_ctx, const char *kind, const char *message))
//
// called on the same thread right after the failure. It calls SetError once, and
// leaves the error pending. nil takes it away.
func (a ExchangeAPI) Explained(explain unsafe.Pointer) ExchangeAPI {
	a.explain = uintptr(explain)
	return a
}

// Raw gives the table itself; nil for the zero ExchangeAPI. It is the producer's:
// never write it.
func (a ExchangeAPI) Raw() *DLPackExchangeAPI { return a.table }

func (a ExchangeAPI) callee() C.struct_dlp_00000000_callee {
	return C.struct_dlp_00000000_callee{
		table:   C.uintptr_t(uintptr(unsafe.Pointer(a.table))),
		explain: C.uintptr_t(a.explain),
	}
}

// FromPyObject takes a tensor that the caller owns from an object, into dst, which
// must own none. It fails like the table, with a [*CallError], or like [Import].
func (a ExchangeAPI) FromPyObject(dst *Managed, object uintptr) error {
	if err := a.check(dst, object); err != nil {
		return err
	}
	return dst.answered(C.dlp_00000000_managed(a.callee(), C.uintptr_t(object)))
}

// ToPyObject makes an object of a tensor and gives it with one reference, which is the
// caller's. It takes the tensor over whether it succeeds or fails: afterwards m
// is released, and its data is kept by the object alone. That holds for every
// table, although DLPack leaves open which side deletes a rejected tensor.
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
	answer := C.dlp_00000000_wrap(a.callee(), C.uintptr_t(address), legacy, C.uint64_t(m.tensor.flags))
	if err := failureOf(answer.failure); err != nil {
		return 0, err
	}
	return uintptr(answer.value), nil
}

// Alloc makes a new tensor in the producer's own memory, into dst, which must
// own none. Its elements have any values. It fails like the table, with a
// [*CallError], like [Import], and with [ErrTable] when the table gives another
// tensor than it was asked for.
func (a ExchangeAPI) Alloc(dst *Managed, dtype DataType, device Device, shape ...int64) error {
	if err := a.check(dst, 1); err != nil {
		return err
	}
	if len(shape) > MaxNDim {
		return failf(ErrShape, "%d dimensions; %d at most", len(shape), MaxNDim)
	}
	var few C.struct_dlp_00000000_extents
	var many *C.int64_t
	if len(shape) > len(few.n) {
		many = (*C.int64_t)(unsafe.SliceData(slices.Clone(shape)))
	} else {
		for i, extent := range shape {
			few.n[i] = C.int64_t(extent)
		}
	}
	err := dst.answered(C.dlp_00000000_allocate(a.callee(),
		*(*C.DLDataType)(unsafe.Pointer(&dtype)), *(*C.DLDevice)(unsafe.Pointer(&device)), C.int32_t(len(shape)),
		few, many))
	if err != nil {
		return err
	}
	return dst.expect(dtype, device, shape)
}

// CurrentWorkStream asks on which stream of a device the producer works now.
func (a ExchangeAPI) CurrentWorkStream(device Device) (Stream, error) {
	if a.table == nil {
		return 0, errNoTable()
	}
	answer := C.dlp_00000000_stream(a.callee(), *(*C.DLDevice)(unsafe.Pointer(&device)))
	return Stream(answer.value), failureOf(answer.failure)
}

// handOver takes the tensor out of m for a function of C, and tells whether it is a legacy one.
func (m *Managed) handOver() (address uintptr, legacy C.int, err error) {
	if m.legacy {
		legacy = 1
	}
	if address = m.take(); address == 0 {
		return 0, 0, failf(ErrReleased, "there is no tensor to make an object of")
	}
	return address, legacy, nil
}

func errNoTable() error { return failf(ErrArgument, "this ExchangeAPI has no table") }

// check rejects what would make C crash, or a tensor leak.
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

// answered takes over the tensor that a table gave.
func (m *Managed) answered(answer C.struct_dlp_00000000_answer) error {
	if err := failureOf(answer.failure); err != nil {
		return err
	}
	address := uintptr(answer.value)
	return m.Init((*DLManagedTensorVersioned)(loadPtr(&address)))
}

// expect releases another tensor than was asked for: what its caller would do
// with it relies on it. Of the CPU there is only one, whatever its number.
func (m *Managed) expect(dtype DataType, device Device, shape []int64) error {
	t := m.Tensor()
	sameDevice := t.Device() == device || device.Type == DeviceCPU && t.Device().Type == DeviceCPU
	if t.DataType() == dtype && sameDevice && slices.Equal(t.Shape(), shape) {
		return nil
	}
	err := failf(ErrTable, "asked for %v %v on %v, it allocated %v %v on %v", dtype, slices.Clone(shape), device,
		t.DataType(), slices.Clone(t.Shape()), t.Device())
	m.Release()
	return err
}

// opNames are the functions by their numbers in C.
var opNames = [...]string{
	C.dlp_00000000_OP_ALLOCATE: "managed_tensor_allocator",
	C.dlp_00000000_OP_MANAGED:  "managed_tensor_from_py_object_no_sync",
	C.dlp_00000000_OP_WRAP:     "managed_tensor_to_py_object_no_sync",
	C.dlp_00000000_OP_BORROW:   "dltensor_from_py_object_no_sync",
	C.dlp_00000000_OP_STREAM:   "current_work_stream",
}

// failureOf makes an error of what C found, nil of nothing.
func failureOf(f *C.dlp_00000000_failure) error {
	if f == nil {
		return nil
	}
	defer C.dlp_00000000_forget(f)
	call := &CallError{Op: opNames[f.op], Kind: C.GoString(f.kind), Message: C.GoString(f.message)}
	switch f.why {
	case C.dlp_00000000_NO_MEMORY:
		return failf(ErrNoMemory, "no room to call %s", call.Op)
	case C.dlp_00000000_VERSION:
		return failf(ErrVersion, "%s gave a tensor of one", call.Op)
	case C.dlp_00000000_NOTHING:
		call.Message = "it returned success, but gave nothing"
	case C.dlp_00000000_REJECTED:
		if call.Kind == "" && call.Message == "" {
			call.Message = "it gave no reason"
		}
	}
	return call
}
