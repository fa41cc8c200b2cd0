package main

// #cgo CFLAGS: -O2 -Wall -Wextra -I${SRCDIR}/../../gen/go/dlpack
// #cgo LDFLAGS: -lpthread
// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"time"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

const numberBits = 24 // of a bareList's head, as in C

// managed returns n tensors of C.
func managed(n int) []*dlpack.DLManagedTensorVersioned {
	return spread[dlpack.DLManagedTensorVersioned](unsafe.Pointer(C.tensors_new(C.size_t(n))), n, C.sizeof_tensor)
}

func bareBuffers(n int) []*bareBuffer {
	return spread[bareBuffer](unsafe.Pointer(C.bare_buffers_new(C.size_t(n))), n, C.sizeof_bare_buffer)
}

func bareObjects(n int, device dlpack.DeviceType) (all []uintptr) {
	first := unsafe.Pointer(C.bare_objects_new(C.size_t(n), C.int32_t(device)))
	for _, p := range spread[byte](first, n, C.sizeof_bare_object) {
		all = append(all, uintptr(unsafe.Pointer(p)))
	}
	return all
}

// spread returns pointers to n consecutive C structs; none if memory is exhausted.
func spread[T any](first unsafe.Pointer, n int, size uintptr) (all []*T) {
	for i := range n {
		if first != nil {
			all = append(all, (*T)(unsafe.Add(first, uintptr(i)*size)))
		}
	}
	return all
}

// newBareList returns a list of n free slots; nil if memory is exhausted.
func newBareList(n int) *bareList {
	list := C.bare_list_new(C.uint32_t(n))
	if list == nil {
		return nil
	}
	slots := unsafe.Add(unsafe.Pointer(list), C.sizeof_bare_list)
	return &bareList{
		head:  (*uint64)(unsafe.Pointer(&list.head)),
		slots: unsafe.Slice((*bareSlot)(slots), n),
	}
}

// The structs have the same layout in C.
func _() {
	var x [1]struct{}
	_ = x[unsafe.Sizeof(bareSlot{})-C.sizeof_bare_slot]
	_ = x[unsafe.Offsetof(bareSlot{}.dims)-unsafe.Offsetof(C.bare_slot{}.dims)]
	_ = x[unsafe.Sizeof(bareBuffer{})-C.sizeof_bare_buffer]
	_ = x[unsafe.Offsetof(bareBuffer{}.dims)-unsafe.Offsetof(C.bare_buffer{}.dims)]
	_ = x[unsafe.Sizeof(bareViews{})-C.sizeof_bare_views]
	_ = x[unsafe.Offsetof(bareViews{}.stream)-unsafe.Offsetof(C.bare_views{}.stream)]
}

var (
	bareDeleter       = uintptr(unsafe.Pointer(C.bare_release))
	bareSharedDeleter = uintptr(unsafe.Pointer(C.bare_release_shared))
	bareBufferDeleter = uintptr(unsafe.Pointer(C.bare_release_buffer))
)

func crossing(n int) {
	for range n {
		C.crossing()
	}
}

func deleteOne(address uintptr) { C.delete_one(C.uintptr_t(address)) }

func deleteAll(all []uintptr) {
	C.delete_all((*C.uintptr_t)(unsafe.Pointer(&all[0])), C.size_t(len(all)))
}

// deleteAllOnThread returns the time on a thread that Go did not create.
func deleteAllOnThread(all []uintptr) time.Duration {
	return time.Duration(C.delete_all_on_thread((*C.uintptr_t)(unsafe.Pointer(&all[0])), C.size_t(len(all))))
}

func bareTable() *dlpack.DLPackExchangeAPI {
	return (*dlpack.DLPackExchangeAPI)(unsafe.Pointer(C.bare_table()))
}

func newBareViews() *bareViews {
	return (*bareViews)(C.calloc(1, C.sizeof_bare_views))
}

func bareBorrow(table, a, b, c uintptr, views *bareViews) bool {
	return C.bare_borrow(C.uintptr_t(table), C.uintptr_t(a), C.uintptr_t(b), C.uintptr_t(c),
		C.uintptr_t(uintptr(unsafe.Pointer(views)))) == 0
}

func callView(table *dlpack.DLPackExchangeAPI, object uintptr) func(n int) {
	return func(n int) { C.call_view(inC(table), C.uintptr_t(object), C.size_t(n)) }
}

func callManaged(table *dlpack.DLPackExchangeAPI, object uintptr) func(n int) {
	return func(n int) { C.call_managed(inC(table), C.uintptr_t(object), C.size_t(n)) }
}

func callStream(table *dlpack.DLPackExchangeAPI) func(n int) {
	return func(n int) { C.call_stream(inC(table), C.size_t(n)) }
}

func inC(table *dlpack.DLPackExchangeAPI) *C.DLPackExchangeAPI {
	return (*C.DLPackExchangeAPI)(unsafe.Pointer(table))
}

func importInC(p *dlpack.DLManagedTensorVersioned) bool {
	return C.bare_import(C.uintptr_t(uintptr(unsafe.Pointer(p)))) != 0
}
