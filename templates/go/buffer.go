//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Buffer is a contiguous tensor in C memory, which Go can fill and export any number of times.
// Exporting a Buffer costs less than exporting a slice, because nothing has to be pinned. The
// memory is freed when Go has released the Buffer and every consumer its tensor; the garbage
// collector does not free it. A program that is built with the tag dlpackdebug reports Buffers that
// Go did not release: see [Leaks].
//
// Its methods may be called from several goroutines at once, but not after the last Release. A
// Buffer must not be copied.
type Buffer[T Element] struct {
	share
}

// share is Go's share in a buffer, without the type parameter.
type share struct {
	_      [0]sync.Mutex // go vet then finds copies
	trace  trace         // not at the end, where a field of size 0 would need padding: 64 bytes are one cache line
	buffer *buffer
	owners atomic.Int64
	tensor DLTensor
}

// Alloc returns a Buffer of zeros with the given shape; without a shape, it is a scalar. Its memory
// is aligned to [Alignment].
//
// Unused blocks of up to 1 MiB are kept for later Buffers, and freed by [Drain]; larger blocks are
// freed at once. Errors: [ErrShape], [ErrNoMemory].
func Alloc[T Element](shape ...int64) (*Buffer[T], error) {
	b := new(Buffer[T])
	if err := b.alloc(DataTypeOf[T](), shape); err != nil {
		return nil, err
	}
	return b, nil
}

// Slice returns the elements, in row-major order; nil after the last Release. They are valid until
// then, and as long as a tensor of the Buffer exists.
func (b *Buffer[T]) Slice() []T {
	t := b.Tensor()
	if t.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*T)(t.first()), t.Len())
}

// Tensor returns a view for the other functions of this package; the zero Tensor after the last
// Release.
func (b *Buffer[T]) Tensor() Tensor {
	if b.owners.Load() <= 0 {
		return Tensor{}
	}
	return Tensor{&b.tensor, 0}
}

// Export returns a tensor of the Buffer for one consumer, like the function [Export]. The tensor
// keeps the memory alive, even after Go has released the Buffer. After the last Release, Export
// fails with [ErrReleased].
func (b *Buffer[T]) Export() (*DLManagedTensorVersioned, error) { return b.export() }

// ExportWith is [Buffer.Export] with options for shape, strides and flags, like the function
// [ExportWith]. The default shape is that of the Buffer.
func (b *Buffer[T]) ExportWith(o ExportOptions) (*DLManagedTensorVersioned, error) {
	s, err := b.exportWith(&o, false)
	if err != nil {
		return nil, err
	}
	return &s.managed, nil
}

// ExportLegacy is [Buffer.ExportWith] for the struct without version and flags, like the function
// [ExportLegacy].
func (b *Buffer[T]) ExportLegacy(o ExportOptions) (*DLManagedTensor, error) {
	s, err := b.exportWith(&o, true)
	if err != nil {
		return nil, err
	}
	return s.legacy(), nil
}

// Retain adds a reference for another goroutine that uses the Buffer, which must then call Release.
// It fails with [ErrReleased] after the last Release.
func (b *Buffer[T]) Retain() error {
	for {
		owners := b.owners.Load()
		if owners <= 0 {
			return errReleased()
		}
		if b.owners.CompareAndSwap(owners, owners+1) {
			return nil
		}
	}
}

// Release removes a reference. The memory is freed when no references and no consumers' tensors
// remain. After the last call, Release does nothing.
func (b *Buffer[T]) Release() { b.release() }

// Close calls [Buffer.Release]. It implements io.Closer and never fails.
func (b *Buffer[T]) Close() error {
	b.release()
	return nil
}

func errReleased() error { return failf(ErrReleased, "the Buffer was exported or released") }

func (b *share) release() {
	for {
		owners := b.owners.Load()
		if owners <= 0 {
			return
		}
		if b.owners.CompareAndSwap(owners, owners-1) {
			if owners == 1 {
				b.untrack()
				b.buffer.drop(handleShare)
			}
			return
		}
	}
}

func (b *share) export() (*DLManagedTensorVersioned, error) {
	if b.owners.Load() <= 0 {
		return nil, errReleased()
	}
	alone := atomic.AddUint64(&b.buffer.shares, tensorShare)>>32 == 1
	if !alone || unpooled {
		return b.buffer.fillMore(&b.tensor)
	}
	return b.buffer.fill(&b.tensor), nil
}

func (b *share) exportWith(o *ExportOptions, legacy bool) (*slot, error) {
	if b.owners.Load() <= 0 {
		return nil, errReleased()
	}
	atomic.AddUint64(&b.buffer.shares, tensorShare)
	return b.exportSlot(o, legacy)
}

// exportSlot creates a tensor in a slot, which takes over a share. On an error, the share is
// released.
func (b *share) exportSlot(o *ExportOptions, legacy bool) (*slot, error) {
	t := &b.tensor
	with := *o
	if with.Shape == nil {
		with.Shape = dims(&t.Shape, t.NDim)
		if t.NDim == 0 {
			with.Shape = []int64{}
		}
	}
	m := memory{
		first: loadPtr(&t.Data),
		count: Tensor{t, 0}.Len(),
		bits:  uint64(t.DType.Bits),
		dtype: t.DType,
		owner: b.buffer,
	}
	s, err := exportWith(&m, &with, legacy)
	if err != nil {
		b.buffer.drop(tensorShare)
	}
	return s, err
}

func (b *share) alloc(dtype DataType, shape []int64) error {
	if len(shape) > MaxNDim {
		return tooManyDimensions(len(shape))
	}
	r, err := rangeOf(shape, nil)
	if err != nil {
		return err
	}
	count := r.after + 1
	if r.empty {
		count = 0
	}
	size, fits := bytesOf(count, uint64(dtype.Bits))
	if !fits || size > math.MaxInt64-Alignment {
		return failf(ErrShape, "%v elements of shape %v take more bytes than fit in 63 bits", dtype,
			slices.Clone(shape))
	}
	if b.buffer = buffers.take(size, len(shape)); b.buffer == nil {
		return failf(ErrNoMemory, "no memory for %d bytes", size)
	}
	b.tensor = b.buffer.describe(dtype, shape, count)
	b.owners.Store(1)
	b.track()
	return nil
}
