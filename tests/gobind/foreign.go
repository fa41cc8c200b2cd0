// Package gobind tests the Go bindings with producers and consumers in C and Python. The code
// outside of test files serves only these tests: Go does not allow cgo in test files.
package gobind

// #cgo CFLAGS: -I${SRCDIR}/../../gen/go/dlpack -I${SRCDIR}/../../gen/c -Wall -Wextra
// #include <stdlib.h>
// #include <dlpackgen/rules.h>
// #include "foreign.h"
import "C"

import (
	"errors"
	"regexp"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// MaxForeignNDim is the capacity for extents in a Foreign.
const MaxForeignNDim = C.FOREIGN_NDIM

// Foreign is a tensor created in C: two rows of three float32, which tests may damage. Its deleter
// counts; Free releases the memory.
type Foreign struct{ c *C.foreign }

// NewForeign creates one; the zero Foreign if memory is exhausted.
func NewForeign() Foreign { return Foreign{C.foreign_new()} }

// Free releases it.
func (f Foreign) Free() { C.free(unsafe.Pointer(f.c)) }

// Deleted counts the calls of its deleters.
func (f Foreign) Deleted() int { return int(C.foreign_deleted(f.c)) }

// Versioned returns its struct with version and flags.
func (f Foreign) Versioned() *dlpack.DLManagedTensorVersioned {
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(&f.c.versioned))
}

// Legacy returns its struct without them.
func (f Foreign) Legacy() *dlpack.DLManagedTensor {
	return (*dlpack.DLManagedTensor)(unsafe.Pointer(&f.c.legacy))
}

// Fault is the result of the generated C validator for the versioned struct; 0 if it is valid.
func (f Foreign) Fault() int { return int(C.foreign_fault(f.c)) }

// report is a kind of Go's errors, and a part of their texts. A kind covers several faults of C.
type report struct {
	kind error
	text *regexp.Regexp
}

func reported(kind error, text string) report { return report{kind, regexp.MustCompile(text)} }

// reports are Go's errors for the faults of C. Import accepts unknown codes and devices. Go reports
// sizes in bytes beyond 63 bits, and those beyond the address space, by one text.
var reports = map[int]report{
	C.DLPACKGEN_ERROR_NULL:         reported(dlpack.ErrArgument, `: no tensor: `),
	C.DLPACKGEN_ERROR_VERSION:      reported(dlpack.ErrVersion, `; this package supports `),
	C.DLPACKGEN_ERROR_NDIM:         reported(dlpack.ErrShape, `: ndim is `),
	C.DLPACKGEN_ERROR_SHAPE_NULL:   reported(dlpack.ErrShape, `: shape is NULL`),
	C.DLPACKGEN_ERROR_EXTENT:       reported(dlpack.ErrShape, `: extent .* is negative$`),
	C.DLPACKGEN_ERROR_STRIDES_NULL: reported(dlpack.ErrShape, `: strides are NULL`),
	C.DLPACKGEN_ERROR_BITS:         reported(dlpack.ErrDataType, ` \d+ bits`),
	C.DLPACKGEN_ERROR_LANES:        reported(dlpack.ErrDataType, ` 0 lanes$`),
	C.DLPACKGEN_ERROR_TOO_LARGE:    reported(dlpack.ErrShape, ` 63 bits$| exceeds the address space$`),
	C.DLPACKGEN_ERROR_DATA_NULL:    reported(dlpack.ErrData, `: data is NULL, but `),
	C.DLPACKGEN_ERROR_OUT_OF_RANGE: reported(dlpack.ErrShape, ` exceeds the address space$`),
}

// Agrees reports whether an error of Import reports C's fault, by its kind and its text: nil for 0.
// A fault that is not listed, such as that of a new rule, may have any error.
func Agrees(fault int, err error) bool {
	if r, listed := reports[fault]; listed {
		return errors.Is(err, r.kind) && r.text.MatchString(err.Error())
	}
	return (fault == 0) == (err == nil)
}

// IsListed reports whether the error for a fault is known.
func IsListed(fault int) bool {
	_, listed := reports[fault]
	return fault == 0 || listed
}

// FaultLegacy is Fault for the legacy struct.
func (f Foreign) FaultLegacy() int { return int(C.foreign_fault_legacy(f.c)) }

// Data returns its memory.
func (f Foreign) Data() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&f.c.data)), 2*len(f.c.data))
}

// Addr returns the address of its memory.
func (f Foreign) Addr() uintptr { return uintptr(unsafe.Pointer(&f.c.data)) }

// Reshape sets the shape of both structs, and strides unless nil.
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

// ForeignOfMajor creates a tensor of another major version, of which only version, manager_ctx and
// deleter can be read; nil if that is not possible.
func ForeignOfMajor(major uint32) *dlpack.DLManagedTensorVersioned {
	return (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(C.foreign_of_major(C.uint32_t(major))))
}

// ForeignOfMajorDeleted counts the calls of their deleters.
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

// ConsumeOnThreads calls the deleters on threads that Go did not create.
func ConsumeOnThreads(all []*dlpack.DLManagedTensorVersioned, threads int) {
	if len(all) > 0 {
		first := (**C.DLManagedTensorVersioned)(unsafe.Pointer(unsafe.SliceData(all)))
		C.consume_on_threads(first, C.size_t(len(all)), C.int(threads))
	}
}
