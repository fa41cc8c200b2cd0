//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "buffer.h"
import "C"

import (
	"math/bits"
	"structs"
	"sync"
	"unsafe"
)

const (
	handleShare = C.dlp_00000000_HANDLE
	tensorShare = C.dlp_00000000_TENSOR
	poolCount   = C.dlp_00000000_POOLS
)

// buffer mirrors the C struct with the memory of a Buffer.
type buffer struct {
	_        structs.HostLayout
	managed  DLManagedTensorVersioned // for the only consumer
	shares   uint64
	block    uintptr
	data     uintptr
	more     uintptr
	next     uintptr
	pool     uint32
	exported uint32
	dims     [2 * slotNDim]int64 // shape, then strides, of all tensors
}

func _() {
	var x [1]struct{}
	_ = x[unsafe.Sizeof(buffer{})-C.sizeof_struct_dlp_00000000_buffer]
	_ = x[unsafe.Offsetof(buffer{}.shares)-unsafe.Offsetof(C.struct_dlp_00000000_buffer{}.shares)]
	_ = x[unsafe.Offsetof(buffer{}.data)-unsafe.Offsetof(C.struct_dlp_00000000_buffer{}.data)]
	_ = x[unsafe.Offsetof(buffer{}.more)-unsafe.Offsetof(C.struct_dlp_00000000_buffer{}.more)]
	_ = x[unsafe.Offsetof(buffer{}.exported)-unsafe.Offsetof(C.struct_dlp_00000000_buffer{}.exported)]
	_ = x[unsafe.Offsetof(buffer{}.dims)-unsafe.Offsetof(C.struct_dlp_00000000_buffer{}.dims)]
}

// blocks is the C memory for buffers, which only one goroutine at a time may allocate.
type blocks struct{ mu sync.Mutex }

var buffers blocks

// poolOf returns the pool with the smallest sufficient blocks, and their size. It returns 0 for
// blocks that are not pooled: all of them, if a tool detects uses of freed memory.
func poolOf(size uint64) (pool int, block uint64) {
	pool = max(1, bits.Len64(max(size, 1)-1)-7)
	if unpooled || pool >= poolCount {
		return 0, size
	}
	return pool, 128 << pool
}

// take returns a buffer with one share, or nil.
func (b *blocks) take(size uint64, ndim int) *buffer {
	pool, block := poolOf(size)
	b.mu.Lock()
	defer b.mu.Unlock()
	made := C.dlp_00000000_new_buffer(C.uint32_t(pool), C.size_t(block), C.size_t(size), C.size_t(2*ndim))
	return (*buffer)(unsafe.Pointer(made))
}

func (b *blocks) trim() (exported int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int(C.dlp_00000000_trim())
}

func (b *buffer) drop(share uint64) {
	C.dlp_00000000_drop((*C.struct_dlp_00000000_buffer)(unsafe.Pointer(b)), C.uint64_t(share))
}

// describe writes the dims that all tensors of the buffer share, and returns the tensor.
func (b *buffer) describe(dtype DataType, shape []int64, count uint64) DLTensor {
	dims := b.dims[:]
	if len(shape) > slotNDim {
		dims = unsafe.Slice((*int64)(loadPtr(&b.more)), 2*len(shape))
	}
	t := DLTensor{Device: Device{Type: DeviceCPU}, NDim: int32(len(shape)), DType: dtype}
	if count > 0 {
		t.Data = b.data // an empty tensor has no data
	}
	if len(shape) > 0 {
		t.Shape, t.Strides = address(&dims[0]), address(&dims[len(shape)])
		copyDims(dims, shape, nil)
	}
	return t
}

// fill fills the tensor that needs no slot.
func (b *buffer) fill(t *DLTensor) *DLManagedTensorVersioned {
	b.exported = 1
	b.managed.head(deleterFirst, 0)
	b.managed.DLTensor = *t
	return &b.managed
}

// fillMore fills a further tensor, which also shares the buffer's dims.
func (b *buffer) fillMore(t *DLTensor) (*DLManagedTensorVersioned, error) {
	s, in := exports.near(unsafe.Pointer(b)).popGuessed()
	if s == nil {
		var err error
		if s, in, err = exports.take(unsafe.Pointer(b)); err != nil {
			b.drop(tensorShare)
			return nil, err
		}
	}
	if s.pinned != 0 {
		in.pin(s, nil)
	}
	s.track()
	s = s.consumers()
	s.owner, s.extra = uintptr(unsafe.Pointer(b)), 0
	s.managed.head(deleterAll, 0)
	s.managed.DLTensor = *t
	return &s.managed, nil
}
