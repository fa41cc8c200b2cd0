//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math/bits"
	"structs"
	"sync"
	"unsafe"
)

// buffer mirrors the C struct with the memory of a Buffer. cgo.go compares the two.
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
	return newBuffer(pool, block, size, 2*ndim)
}

func (b *blocks) trim() (exported int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return trimBuffers()
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
