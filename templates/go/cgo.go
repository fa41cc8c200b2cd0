//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "export.h"
// #include "table.h"
import "C"

import (
	"slices"
	"unsafe"
)

// This file has all calls into the C files of this package, except those of unpooled.go. hooks.go
// has the functions that C calls. The other files do not use cgo, which starts the C compiler four
// times for each file that does.

const (
	slotNDim   = C.dlp_00000000_SLOT_NDIM
	listCount  = C.dlp_00000000_LISTS
	numberBits = C.dlp_00000000_NUMBER_BITS

	handleShare = C.dlp_00000000_HANDLE
	tensorShare = C.dlp_00000000_TENSOR
	poolCount   = C.dlp_00000000_POOLS

	maxProducers = C.dlp_00000000_TABLES // besides the default table
)

// The functions of a table.
const (
	opAllocate = C.dlp_00000000_OP_ALLOCATE
	opManaged  = C.dlp_00000000_OP_MANAGED
	opWrap     = C.dlp_00000000_OP_WRAP
	opBorrow   = C.dlp_00000000_OP_BORROW
	opStream   = C.dlp_00000000_OP_STREAM
)

// The reasons of a failure.
const (
	failedRejected = C.dlp_00000000_REJECTED
	failedNothing  = C.dlp_00000000_NOTHING
	failedVersion  = C.dlp_00000000_VERSION
	failedMemory   = C.dlp_00000000_NO_MEMORY
)

type (
	cAnswer  = C.struct_dlp_00000000_answer
	cFailure = C.dlp_00000000_failure
)

// The structs that Go mirrors have the same layout in C; guards.go checks those of dlpack.h.

var _ = [1]struct{}{}[Alignment-C.dlp_00000000_ALIGNMENT]

func _(x [1]struct{}, c C.struct_dlp_00000000_slot) {
	_ = x[unsafe.Sizeof(slot{})-unsafe.Sizeof(c)]
	_ = x[unsafe.Offsetof(slot{}.next)-unsafe.Offsetof(c.next)]
	_ = x[unsafe.Offsetof(slot{}.number)-unsafe.Offsetof(c.number)]
	_ = x[unsafe.Offsetof(slot{}.list)-unsafe.Offsetof(c.list)]
	_ = x[unsafe.Offsetof(slot{}.origin)-unsafe.Offsetof(c.origin)]
	_ = x[unsafe.Offsetof(slot{}.pinned)-unsafe.Offsetof(c.pinned)]
	_ = x[unsafe.Offsetof(slot{}.owner)-unsafe.Offsetof(c.owner)]
	_ = x[unsafe.Offsetof(slot{}.extra)-unsafe.Offsetof(c.extra)]
	_ = x[unsafe.Offsetof(slot{}.dims)-unsafe.Offsetof(c.dims)]
}

func _(x [1]struct{}, c C.struct_dlp_00000000_extra) {
	_ = x[unsafe.Sizeof(extra{})-unsafe.Sizeof(c)]
	_ = x[unsafe.Offsetof(extra{}.dims)-unsafe.Offsetof(c.dims)]
}

func _(x [1]struct{}, c C.struct_dlp_00000000_buffer) {
	_ = x[unsafe.Sizeof(buffer{})-unsafe.Sizeof(c)]
	_ = x[unsafe.Offsetof(buffer{}.shares)-unsafe.Offsetof(c.shares)]
	_ = x[unsafe.Offsetof(buffer{}.data)-unsafe.Offsetof(c.data)]
	_ = x[unsafe.Offsetof(buffer{}.more)-unsafe.Offsetof(c.more)]
	_ = x[unsafe.Offsetof(buffer{}.exported)-unsafe.Offsetof(c.exported)]
	_ = x[unsafe.Offsetof(buffer{}.dims)-unsafe.Offsetof(c.dims)]
}

func _(x [1]struct{}, c C.struct_dlp_00000000_view) {
	_ = x[unsafe.Sizeof(View{})-unsafe.Sizeof(c)]
	_ = x[unsafe.Offsetof(View{}.object)-unsafe.Offsetof(c.object)]
	_ = x[unsafe.Offsetof(View{}.owner)-unsafe.Offsetof(c.owner)]
	_ = x[unsafe.Offsetof(View{}.stream)-unsafe.Offsetof(c.stream)]
	_ = x[unsafe.Offsetof(View{}.flags)-unsafe.Offsetof(c.flags)]
	_ = x[unsafe.Offsetof(View{}.tensor)-unsafe.Offsetof(c.tensor)]
	_ = x[unsafe.Offsetof(View{}.dims)-unsafe.Offsetof(c.dims)]
	_ = x[MaxNDim-C.dlp_00000000_VIEW_NDIM]
}

// The deleters' addresses, as numbers for the mirrors.
var (
	deleter          = uintptr(unsafe.Pointer(C.dlp_00000000_release))
	deleterLegacy    = uintptr(unsafe.Pointer(C.dlp_00000000_release_legacy))
	deleterAll       = uintptr(unsafe.Pointer(C.dlp_00000000_release_all))
	deleterAllLegacy = uintptr(unsafe.Pointer(C.dlp_00000000_release_all_legacy))
	deleterFirst     = uintptr(unsafe.Pointer(C.dlp_00000000_release_first))
)

// deleteVersioned calls the deleter of the tensor at an address.
func deleteVersioned(address uintptr) { C.dlp_00000000_delete(C.uintptr_t(address)) }

// deleteLegacy calls the deleter of the legacy tensor at an address.
func deleteLegacy(address uintptr) { C.dlp_00000000_delete_legacy(C.uintptr_t(address)) }

// deleteAll calls the deleters of all tensors. legacy is 1 if some of the addresses are tagged.
func deleteAll(list []uintptr, legacy uintptr) {
	if len(list) > 0 {
		C.dlp_00000000_delete_all((*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(list))), C.size_t(len(list)),
			C.int(legacy))
	}
}

// newBuffer returns a buffer with one share, or nil. The caller holds the lock of buffers.
func newBuffer(pool int, block, size uint64, dims int) *buffer {
	made := C.dlp_00000000_new_buffer(C.uint32_t(pool), C.size_t(block), C.size_t(size), C.size_t(dims))
	return (*buffer)(unsafe.Pointer(made))
}

// trimBuffers frees pooled blocks, and counts the buffers' tensors that consumers own. The caller
// holds the lock of buffers.
func trimBuffers() int { return int(C.dlp_00000000_trim()) }

func (b *buffer) drop(share uint64) {
	C.dlp_00000000_drop((*C.struct_dlp_00000000_buffer)(unsafe.Pointer(b)), C.uint64_t(share))
}

// headOf returns the head of a list of free slots.
func headOf(list int) *uint64 { return (*uint64)(unsafe.Pointer(C.dlp_00000000_list(C.int(list)))) }

// newSlots allocates slots, numbered from first; nil if memory is exhausted.
func newSlots(head *uint64, first, count uint32) *slot {
	slots := C.dlp_00000000_new_slots((*C.uint64_t)(head), C.uint32_t(first), C.uint32_t(count))
	return (*slot)(unsafe.Pointer(slots))
}

// allocateExtra allocates additional data of a slot; nil if memory is exhausted.
func allocateExtra(dims int) *extra {
	return (*extra)(unsafe.Pointer(C.dlp_00000000_new_extra(C.size_t(dims))))
}

func trapped() uint64 { return uint64(C.dlp_00000000_trapped()) }

func (a ExchangeAPI) callee() C.struct_dlp_00000000_callee {
	return C.struct_dlp_00000000_callee{
		table:   C.uintptr_t(uintptr(unsafe.Pointer(a.table))),
		explain: C.uintptr_t(a.explain),
	}
}

func (a ExchangeAPI) managed(object uintptr) cAnswer {
	return C.dlp_00000000_managed(a.callee(), C.uintptr_t(object))
}

// wrap takes ownership of the tensor at an address.
func (a ExchangeAPI) wrap(address uintptr, legacy bool, flags Flags) cAnswer {
	return C.dlp_00000000_wrap(a.callee(), C.uintptr_t(address), truth(legacy), C.uint64_t(flags))
}

// allocate passes a copy of the shape, which does not escape.
func (a ExchangeAPI) allocate(dtype DataType, device Device, shape []int64) cAnswer {
	var few C.struct_dlp_00000000_extents
	var many *C.int64_t
	if len(shape) > len(few.n) {
		many = (*C.int64_t)(unsafe.SliceData(slices.Clone(shape)))
	} else {
		for i, extent := range shape {
			few.n[i] = C.int64_t(extent)
		}
	}
	return C.dlp_00000000_allocate(a.callee(), *(*C.DLDataType)(unsafe.Pointer(&dtype)),
		*(*C.DLDevice)(unsafe.Pointer(&device)), C.int32_t(len(shape)), few, many)
}

func (a ExchangeAPI) stream(device Device) cAnswer {
	return C.dlp_00000000_stream(a.callee(), *(*C.DLDevice)(unsafe.Pointer(&device)))
}

// borrow fills count Views, which follow each other in memory.
func (a ExchangeAPI) borrow(first *View, count int) *cFailure {
	return C.dlp_00000000_borrow(a.callee(), (*C.uint64_t)(unsafe.Pointer(first)), C.size_t(count))
}

// deleteOwned deletes the tensors that count Views own.
func deleteOwned(first *View, count int) {
	C.dlp_00000000_release_views((*C.uint64_t)(unsafe.Pointer(first)), C.size_t(count))
}

// callErrorOf copies the texts of a failure.
func callErrorOf(f *cFailure) *CallError {
	return &CallError{Op: opNames[f.op], Kind: C.GoString(f.kind), Message: C.GoString(f.message)}
}

func freeFailure(f *cFailure) { C.dlp_00000000_forget(f) }

// plainTable returns the table with only the default functions.
func plainTable() *DLPackExchangeAPI {
	return (*DLPackExchangeAPI)(unsafe.Pointer(C.dlp_00000000_table_plain()))
}

// newTable creates table number i, from 1 to maxProducers, once.
func newTable(i int, hooks uint32, p *Producer) *DLPackExchangeAPI {
	plan := C.struct_dlp_00000000_plan{
		hooks:  C.uint32_t(hooks),
		offset: C.int32_t(p.Offset),
		raise:  C.uintptr_t(uintptr(p.Raise)),
	}
	return (*DLPackExchangeAPI)(unsafe.Pointer(C.dlp_00000000_table_new(C.int(i), plan,
		(*C.DLPackExchangeAPI)(unsafe.Pointer(&p.Functions)))))
}

// newObject takes ownership of the tensor, unless it returns 0 because memory is exhausted.
func newObject(tensor unsafe.Pointer, legacy bool, flags Flags) Object {
	object := C.dlp_00000000_object_new(tensor, truth(legacy), C.uint64_t(flags))
	return Object(unsafe.Pointer(object))
}

func deleteAny(tensor unsafe.Pointer, legacy bool) { C.dlp_00000000_delete_any(tensor, truth(legacy)) }

func retainObject(o unsafe.Pointer)  { C.dlp_00000000_object_retain((*C.dlp_00000000_object)(o)) }
func releaseObject(o unsafe.Pointer) { C.dlp_00000000_object_release((*C.dlp_00000000_object)(o)) }

// ObjectRelease returns the address of a C function void release(void *object), which is equivalent
// to [Object.Release]. It is for C code in other packages that should not enter Go, such as a
// Python deallocator.
func ObjectRelease() unsafe.Pointer { return unsafe.Pointer(C.dlp_00000000_object_release) }

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
