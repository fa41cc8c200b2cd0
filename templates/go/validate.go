//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// validate checks all properties of a foreign tensor except its elements, so no later arithmetic
// overflows. Unknown devices and type codes are accepted, because a caller may know them. The order
// is that of C, so that both report the same mistake of a tensor with several.
func validate(t Tensor, nullStrides bool) error {
	dl := t.dl
	if err := validateDims(dl, nullStrides); err != nil {
		return err
	}
	shape := dims(&dl.Shape, dl.NDim)
	count, err := countOf(shape)
	if err != nil {
		return err
	}
	if err := validateType(dl.DType); err != nil {
		return err
	}
	if count == 0 {
		return nil // an empty tensor may have any data pointer
	}
	r, err := farthest(shape, dims(&dl.Strides, dl.NDim), count)
	if err != nil {
		return err
	}
	return validateRange(t, r)
}

// plain is a fast check that accepts most valid tensors in less time than a crossing into C takes:
// contiguous, non-empty ones with strides. It accepts no tensor that validate would reject, which
// checks all others.
func plain(dl *DLTensor) bool {
	t, n := dl.DType, uintptr(dl.NDim)
	shape, strides := loadPtr(&dl.Shape), loadPtr(&dl.Strides)
	if t.Code > CodeFloat || t.Bits&7 != 0 || t.Bits == 0 || t.Lanes != 1 || n-1 >= MaxNDim ||
		shape == nil || strides == nil || (uintptr(shape)|uintptr(strides))&7 != 0 {
		return false
	}
	size, over, large := uint64(1), uint64(0), uint64(dl.Data)|dl.ByteOffset
	for i := n * 8; i != 0; {
		i -= 8
		extent, stride := *(*uint64)(unsafe.Add(shape, i)), *(*uint64)(unsafe.Add(strides, i))
		if stride != size && extent != 1 || extent == 0 {
			return false
		}
		high, low := bits.Mul64(size, extent)
		size, over, large = low, over|high, large|low|extent
	}
	high, size := bits.Mul64(size, uint64(t.Bits/8))
	// If each value is below 2^61, no sum of them overflows.
	return over|high|(large|size)>>61 == 0 && dl.Data != 0
}

func validateType(t DataType) error {
	switch fixed := t.Code.fixedBits(); {
	case t.Bits == 0:
		return failf(ErrDataType, "%v has 0 bits", t.Code)
	case fixed != 0 && t.Bits != fixed:
		return failf(ErrDataType, "%v has %d bits, expected %d", t.Code, t.Bits, fixed)
	case t.Lanes == 0:
		return failf(ErrDataType, "%v has 0 lanes", t.Code)
	}
	return nil
}

func validateDims(dl *DLTensor, nullStrides bool) error {
	const misaligned = unsafe.Alignof(int64(0)) - 1
	switch {
	case dl.NDim < 0 || dl.NDim > MaxNDim:
		return failf(ErrShape, "ndim is %d; 0 to %d are accepted", dl.NDim, MaxNDim)
	case dl.NDim > 0 && dl.Shape == 0:
		return failf(ErrShape, "shape is NULL, but ndim is %d", dl.NDim)
	case dl.NDim > 0 && dl.Strides == 0 && !nullStrides:
		return failf(ErrShape, "strides are NULL, which DLPack forbids since 1.2, but ndim is %d", dl.NDim)
	case dl.NDim > 0 && (dl.Shape|dl.Strides)&misaligned != 0:
		return failf(ErrShape, "shape or strides is at an address that is not a multiple of 8")
	}
	return nil
}

// elementRange is the distance, in elements, to the farthest elements before and after the element
// whose indices are all 0.
type elementRange struct {
	before, after uint64
	empty         bool
}

// rangeOf fails for extents and strides beyond any memory. Without strides, the tensor is
// contiguous.
func rangeOf(shape, strides []int64) (elementRange, error) {
	count, err := countOf(shape)
	if err != nil || count == 0 {
		return elementRange{empty: true}, err
	}
	return farthest(shape, strides, count)
}

// countOf returns the number of elements, which is 0 if any extent is 0.
func countOf(shape []int64) (uint64, error) {
	empty := false
	for i, extent := range shape {
		if extent < 0 {
			return 0, failf(ErrShape, "extent %d of dimension %d is negative", extent, i)
		}
		empty = empty || extent == 0
	}
	if empty {
		return 0, nil
	}
	count := uint64(1)
	for _, extent := range shape {
		high, low := bits.Mul64(count, uint64(extent))
		if high != 0 || low > math.MaxInt64 {
			return 0, failf(ErrShape, "shape %v has more elements than fit in 63 bits", slices.Clone(shape))
		}
		count = low
	}
	return count, nil
}

// farthest returns the range of a tensor with elements.
func farthest(shape, strides []int64, count uint64) (elementRange, error) {
	if strides == nil {
		return elementRange{after: count - 1}, nil
	}
	var r elementRange
	for i, extent := range shape {
		side, size := &r.after, uint64(strides[i])
		if strides[i] < 0 {
			side, size = &r.before, -size
		}
		over, distance := bits.Mul64(uint64(extent-1), size)
		if over != 0 || distance > math.MaxInt64-*side {
			return elementRange{}, failf(ErrShape, "strides %v of shape %v exceed 63 bits",
				slices.Clone(strides), slices.Clone(shape))
		}
		*side += distance
	}
	return r, nil
}

// validateRange checks that there is memory, and that every element has an address. There are no
// addresses before a handle, so byte_offset must cover all elements before the first one.
func validateRange(t Tensor, r elementRange) error {
	dl := t.dl
	width := elementBits(dl.DType, t.flags)
	before, fits := bytesOf(r.before, width)
	after, fit := bytesOf(r.after+1, width)
	if fits && fit && dl.Data == 0 {
		return failf(ErrData, "data is NULL, but the tensor has elements")
	}
	base := uint64(dl.Data)
	if dl.Device.Type.Opaque() {
		base = 0
	}
	end, carry := bits.Add64(after, dl.ByteOffset, 0)
	_, beyond := bits.Add64(base, end, 0)
	if !fits || !fit || carry != 0 || end > math.MaxInt64 || beyond != 0 || before > base+dl.ByteOffset {
		return failf(ErrShape, "shape %v with strides %v exceeds the address space", t.Shape(), t.Strides())
	}
	return nil
}

// elementBits is the size of one element in memory: narrow ones are packed unless they are padded,
// all others are whole bytes.
func elementBits(t DataType, flags Flags) uint64 {
	width := uint64(t.Bits) * uint64(t.Lanes)
	if t.Bits < packedBelow && flags&FlagIsSubbyteTypePadded == 0 {
		return width
	}
	return (width + 7) / 8 * 8
}

// Alignment returns the alignment of an element in bytes: the size of one lane, or of one part of a
// complex number. The result is 1 for lanes of a size that no C type has, and the same on every
// platform.
func (t DataType) Alignment() int {
	parts := int(t.Code.parts())
	for _, size := range alignments {
		if int(t.Bits) == 8*size*parts {
			return size
		}
	}
	return 1
}

// bytesOf returns the size in bytes of contiguous elements, if it fits in 63 bits.
func bytesOf(count, width uint64) (bytes uint64, fits bool) {
	high, low := bits.Mul64(count, width)
	low, carry := bits.Add64(low, 7, 0)
	high += carry
	return high<<61 | low>>3, high < 4
}
