//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

// #include <stdlib.h>
// #include "foreign.h"
import "C"

import (
	"sync/atomic"
	"testing"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

const (
	foreignNDim  = C.dlp_00000000_FOREIGN_NDIM
	foreignBytes = C.dlp_00000000_FOREIGN_BYTES
)

// foreign is a tensor created in C: two rows of three float32, which tests may damage.
type foreign struct{ c *C.dlp_00000000_foreign }

// newForeign creates a foreign that is freed after the test.
func newForeign(t *testing.T) foreign {
	t.Helper()
	s := foreign{C.dlp_00000000_foreign_new()}
	if s.c == nil {
		t.Fatal("C returned no memory")
	}
	t.Cleanup(func() { C.free(unsafe.Pointer(s.c)) })
	return s
}

func (s foreign) versioned() *dlpack.DLManagedTensorVersioned {
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(&s.c.versioned))
}

func (s foreign) legacy() *dlpack.DLManagedTensor {
	return (*dlpack.DLManagedTensor)(unsafe.Pointer(&s.c.legacy))
}

// deleted counts the calls of the deleters of both structs.
func (s foreign) deleted() int {
	versioned := atomic.LoadInt32((*int32)(unsafe.Pointer(&s.c.deleted)))
	return int(versioned + atomic.LoadInt32((*int32)(unsafe.Pointer(&s.c.deleted_legacy))))
}

// shape and strides are arrays larger than any accepted tensor.
func (s foreign) shape() []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(&s.c.shape)), foreignNDim)
}

func (s foreign) strides() []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(&s.c.strides)), foreignNDim)
}

// bytes is its memory.
func (s foreign) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s.c.data)), foreignBytes)
}

func (s foreign) addr() uintptr { return uintptr(unsafe.Pointer(&s.c.data)) }

// both calls f with the tensor of each struct.
func (s foreign) both(f func(*dlpack.DLTensor)) {
	f(&s.versioned().DLTensor)
	f(&s.legacy().DLTensor)
}

// reshape sets the shape of both structs; NULL strides if strides is nil.
func (s foreign) reshape(shape, strides []int64) {
	copy(s.shape(), shape)
	copy(s.strides(), strides)
	s.both(func(d *dlpack.DLTensor) {
		d.NDim = int32(len(shape))
		d.Strides = 0
		if strides != nil {
			d.Strides = uintptr(unsafe.Pointer(&s.c.strides))
		}
	})
}

// sight has the fields of a tensor as C reads them.
type sight struct {
	Major, Minor, ManagerCtx, Deleter, Flags      uint64
	Data, ByteOffset, Shape, Strides              uint64
	DeviceType, DeviceID, NDim, Code, Bits, Lanes int64
}

func see(p *dlpack.DLManagedTensorVersioned) sight {
	return seen(C.dlp_00000000_see(C.uintptr_t(uintptr(unsafe.Pointer(p)))))
}

func seeLegacy(p *dlpack.DLManagedTensor) sight {
	return seen(C.dlp_00000000_see_legacy(C.uintptr_t(uintptr(unsafe.Pointer(p)))))
}

func seen(s C.dlp_00000000_sight) sight { return *(*sight)(unsafe.Pointer(&s)) }

// deleteOnThreads calls deleters on threads that Go did not create.
func deleteOnThreads(threads int, all ...*dlpack.DLManagedTensorVersioned) {
	addresses := make([]uintptr, len(all))
	for i, p := range all {
		addresses[i] = uintptr(unsafe.Pointer(p))
	}
	deleteAddresses(threads, addresses)
}

// deleteLegacyOnThread calls a deleter on a thread that Go did not create.
func deleteLegacyOnThread(p *dlpack.DLManagedTensor) {
	deleteAddresses(1, []uintptr{uintptr(unsafe.Pointer(p)) | 1})
}

func deleteAddresses(threads int, addresses []uintptr) {
	first := (*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(addresses)))
	C.dlp_00000000_delete_on_threads(first, C.size_t(len(addresses)), C.int(threads))
}
