// Package gobind tests the Go bindings with producers and consumers in C and Python. The code that
// is not in test files serves these tests only: Go allows no cgo in test files.
package gobind

// #cgo CFLAGS: -I${SRCDIR}/../../gen/go/dlpack -I${SRCDIR}/../../gen/c -Wall -Wextra
// #include <stdlib.h>
// #include "foreign.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// MaxForeignNDim is the room for extents in a Foreign.
const MaxForeignNDim = C.FOREIGN_NDIM

// Foreign is a tensor that C made: two rows of three float32, until a test
// spoils it. Its deleter counts; Free gives the memory back.
type Foreign struct{ c *C.foreign }

// NewForeign makes one; the zero Foreign when memory is out.
func NewForeign() Foreign { return Foreign{C.foreign_new()} }

// Free ends it.
func (f Foreign) Free() { C.free(unsafe.Pointer(f.c)) }

// Deleted counts the calls of its deleters.
func (f Foreign) Deleted() int { return int(C.foreign_deleted(f.c)) }

// Versioned is its face with version and flags.
func (f Foreign) Versioned() *dlpack.DLManagedTensorVersioned {
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(&f.c.versioned))
}

// Legacy is its face without them.
func (f Foreign) Legacy() *dlpack.DLManagedTensor {
	return (*dlpack.DLManagedTensor)(unsafe.Pointer(&f.c.legacy))
}

// Fault is what the generated validator in C finds wrong with the versioned
// face; 0 for nothing.
func (f Foreign) Fault() int { return int(C.foreign_fault(f.c)) }

// FaultLegacy is Fault for the legacy face.
func (f Foreign) FaultLegacy() int { return int(C.foreign_fault_legacy(f.c)) }

// Data is its memory.
func (f Foreign) Data() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&f.c.data)), 2*len(f.c.data))
}

// Addr is where its memory begins.
func (f Foreign) Addr() uintptr { return uintptr(unsafe.Pointer(&f.c.data)) }

// Reshape gives both faces a shape, and strides when they are not nil.
func (f Foreign) Reshape(shape, strides []int64) {
	copy(unsafe.Slice((*int64)(&f.c.shape[0]), len(f.c.shape)), shape)
	copy(unsafe.Slice((*int64)(&f.c.strides[0]), len(f.c.strides)), strides)
	for _, t := range []*dlpack.DLTensor{&f.Versioned().DLTensor, &f.Legacy().DLTensor} {
		t.NDim = int32(len(shape))
		if strides == nil {
			t.Strides = 0
		}
	}
}

// ForeignOfMajor makes a tensor of another major version, of which nothing but
// version, manager_ctx and deleter can be read; nil where that is not possible.
func ForeignOfMajor(major uint32) *dlpack.DLManagedTensorVersioned {
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(C.foreign_of_major(C.uint32_t(major))))
}

// ForeignOfMajorDeleted counts the calls of the deleters of all those.
func ForeignOfMajorDeleted() int { return int(C.foreign_of_major_deleted()) }

// Consume calls a deleter from C.
func Consume(p *dlpack.DLManagedTensorVersioned) {
	C.consume((*C.DLManagedTensorVersioned)(unsafe.Pointer(p)))
}

// ConsumeLegacy calls a deleter from C.
func ConsumeLegacy(p *dlpack.DLManagedTensor) {
	C.consume_legacy((*C.DLManagedTensor)(unsafe.Pointer(p)))
}

// ConsumeBy calls a deleter that the consumer has kept.
func ConsumeBy(deleter uintptr, p *dlpack.DLManagedTensorVersioned) {
	C.consume_by(C.uintptr_t(deleter), unsafe.Pointer(p))
}

// ConsumeOnThreads calls the deleters on threads that Go did not make.
func ConsumeOnThreads(all []*dlpack.DLManagedTensorVersioned, threads int) {
	if len(all) > 0 {
		first := (**C.DLManagedTensorVersioned)(unsafe.Pointer(unsafe.SliceData(all)))
		C.consume_on_threads(first, C.size_t(len(all)), C.int(threads))
	}
}
