//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"iter"
	"math"
	"unsafe"
)

// Packed is a view of elements narrower than a byte, which Go's slices cannot represent. The
// elements are packed with the first element in the lowest bits of the first byte or, if the
// producer set [FlagIsSubbyteTypePadded], padded, with each element in the lowest bits of a byte.
type Packed[T Narrow] struct {
	first    unsafe.Pointer
	elements []struct{} // copies no memory, and has the bounds of the elements
	width    uint8      // of an element, in bits
	step     uint8      // from one element to the next, in bits
}

// PackedData is [Data] for elements narrower than a byte. If an element has several lanes, such as
// PyTorch's pairs of float4_e2m1fn, each lane counts as an element.
//
// The view is valid until the tensor's owner releases it. The errors are those of Data, and
// [ErrDataType] for padded lanes, which DLPack does not define.
func PackedData[T Narrow](t Tensor) (Packed[T], error) {
	want := DataTypeOf[T]()
	want.Lanes = t.DataType().Lanes
	if err := unreadable(t, want); err != nil {
		want.Lanes = 1
		return Packed[T]{}, unreadable(t, want)
	}
	step := elementBits(want, t.flags) / uint64(want.Lanes)
	if t.IsPadded() && want.Lanes > 1 {
		return Packed[T]{}, failf(ErrDataType, "%v is padded, which has no defined order", want)
	}
	if !t.IsContiguous() {
		return Packed[T]{}, unsuitable(t, false)
	}
	if t.Len() > math.MaxInt/int(want.Lanes) {
		return Packed[T]{}, failf(ErrShape, "more than %d elements", math.MaxInt)
	}
	return Packed[T]{
		first:    t.first(),
		elements: make([]struct{}, t.Len()*int(want.Lanes)),
		width:    want.Bits,
		step:     uint8(step),
	}, nil
}

// Len returns the number of elements.
func (p Packed[T]) Len() int { return len(p.elements) }

// At returns element i in row-major order. Like a slice, it panics if i is out of range.
func (p Packed[T]) At(i int) T { return narrow[T](p.place(i).load(p.width)) }

// All returns the elements with their indices, in row-major order.
func (p Packed[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := range p.elements {
			if !yield(i, p.At(i)) {
				return
			}
		}
	}
}

// Unpack copies elements to dst, at most len(dst), and returns their number.
func (p Packed[T]) Unpack(dst []T) int {
	n := min(len(dst), p.Len())
	for i := range dst[:n] {
		dst[i] = p.At(i)
	}
	return n
}

// Bytes returns the memory itself, which must not be written.
func (p Packed[T]) Bytes() []byte {
	size, _ := bytesOf(uint64(p.Len()), uint64(p.step))
	return unsafe.Slice((*byte)(p.first), size)
}

func (p Packed[T]) place(i int) place {
	_ = p.elements[i]
	return place{p.first, int64(i) * int64(p.step)}
}

// WritablePacked is [Packed] for writing.
type WritablePacked[T Narrow] struct{ Packed[T] }

// WritablePackedData is [PackedData] for writing. It fails with [ErrReadOnly] if the tensor is
// read-only.
func WritablePackedData[T Narrow](t Tensor) (WritablePacked[T], error) {
	if t.IsReadOnly() {
		return WritablePacked[T]{}, readOnly()
	}
	p, err := PackedData[T](t)
	return WritablePacked[T]{p}, err
}

// Set writes element i in row-major order, and panics if i is out of range. Several goroutines must
// not write elements of the same byte at once.
func (p WritablePacked[T]) Set(i int, value T) { p.place(i).store(p.width, value.Bits()) }

// Pack copies elements from src, at most Len, and returns their number.
func (p WritablePacked[T]) Pack(src []T) int {
	n := min(len(src), p.Len())
	for i, value := range src[:n] {
		p.Set(i, value)
	}
	return n
}

// FromBits returns the element in the lowest bits of a byte.
func FromBits[T Narrow](code uint8) T {
	return narrow[T](code & (1<<DataTypeOf[T]().Bits - 1))
}
