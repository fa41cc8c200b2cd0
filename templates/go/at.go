//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"slices"
	"unsafe"
)

// At reads the element with the given indices, one for each dimension, with any strides. It also
// reads packed elements. For many elements, [Data], [Runs] and [PackedData] are several times
// faster.
//
// The errors are those of [Data] except [ErrNotContiguous], and [ErrIndex].
func At[T Scalar](t Tensor, indices ...int64) (T, error) {
	var v T
	want := DataTypeOf[T]()
	place, err := placeOf(t, want, unsafe.Alignof(v), indices)
	if err != nil {
		return v, err
	}
	if want.Bits < packedBelow {
		return narrow[T](place.load(want.Bits)), nil
	}
	return *(*T)(place.address()), nil
}

// SetAt writes the element with the given indices. It fails with [ErrReadOnly] if the tensor is
// read-only. Several goroutines must not write elements of the same byte at once.
func SetAt[T Scalar](t Tensor, value T, indices ...int64) error {
	if t.IsReadOnly() {
		return readOnly()
	}
	want := DataTypeOf[T]()
	place, err := placeOf(t, want, unsafe.Alignof(value), indices)
	switch {
	case err != nil:
	case want.Bits < packedBelow:
		place.store(want.Bits, *(*uint8)(unsafe.Pointer(&value)))
	default:
		*(*T)(place.address()) = value
	}
	return err
}

// place is the position of an element, in bits from the first one; it may be negative.
type place struct {
	first unsafe.Pointer
	bits  int64
}

func placeOf(t Tensor, want DataType, align uintptr, indices []int64) (place, error) {
	if err := unreadable(t, want); err != nil {
		return place{}, err
	}
	offset, err := offsetOf(t, indices)
	if err != nil {
		return place{}, err
	}
	first := t.first()
	if uintptr(first)%align != 0 {
		return place{}, unsuitable(t, true)
	}
	return place{first, offset * int64(elementBits(want, t.flags))}, nil
}

// offsetOf returns the distance from the first element to the one with those indices, in elements.
func offsetOf(t Tensor, indices []int64) (int64, error) {
	shape, strides := t.Shape(), t.Strides()
	if len(indices) != len(shape) {
		return 0, failf(ErrIndex, "%d indices for %d dimensions", len(indices), len(shape))
	}
	offset, next := int64(0), int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		if uint64(indices[i]) >= uint64(shape[i]) {
			return 0, failf(ErrIndex, "indices %v in shape %v", slices.Clone(indices), shape)
		}
		stride := next
		if strides != nil {
			stride = strides[i]
		}
		offset += indices[i] * stride
		next *= shape[i]
	}
	return offset, nil
}

// narrow converts bits to a T; all types narrower than a byte have the same form.
func narrow[T Scalar](code uint8) T { return *(*T)(unsafe.Pointer(&code)) }

func (p place) address() unsafe.Pointer { return unsafe.Add(p.first, p.bits>>3) }

// load returns the bits of an element, which may extend over two bytes: its first bits are the
// lowest bits of its first byte.
func (p place) load(width uint8) uint8 {
	shift := uint8(p.bits & 7)
	code := *(*uint8)(p.address()) >> shift
	if shift+width > 8 {
		code |= *(*uint8)(unsafe.Add(p.address(), 1)) << (8 - shift)
	}
	return code & (1<<width - 1)
}

// store is the inverse of load. The bits of other elements are unchanged.
func (p place) store(width, code uint8) {
	shift := uint8(p.bits & 7)
	mask := uint16(1<<width-1) << shift
	bits := uint16(code) << shift & mask
	low := (*uint8)(p.address())
	*low = *low&^uint8(mask) | uint8(bits)
	if shift+width > 8 {
		high := (*uint8)(unsafe.Add(p.address(), 1))
		*high = *high&^uint8(mask>>8) | uint8(bits>>8)
	}
}
