//go:build dlpackgen_template && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math/bits"
	"unsafe"
)

// MaxNDim is the largest number of dimensions that an import accepts. DLPack
// sets no limit; this one, far above what any library makes, keeps a garbage
// ndim from sending reads through all of memory.
const MaxNDim = 256

// validate tests all that can be known of a stranger's tensor without reading
// its elements, so that no later arithmetic on it overflows. Unknown devices
// and type codes pass: they are numbers that a caller may know.
func validate(dl *DLTensor) error {
	if err := validateType(dl.DType); err != nil {
		return err
	}
	if err := validateDims(dl); err != nil {
		return err
	}
	reach, err := reachOf(dims(&dl.Shape, dl.NDim), dims(&dl.Strides, dl.NDim))
	if err != nil || reach.empty {
		return err // an empty tensor may have any data pointer
	}
	if dl.Data == 0 {
		return failf(ErrData, "NULL, but the tensor has elements")
	}
	return validateSpan(dl, reach)
}

func validateType(t DataType) error {
	switch fixed := t.Code.fixedBits(); {
	case t.Lanes == 0:
		return failf(ErrDataType, "%v has 0 lanes", t.Code)
	case t.Bits == 0:
		return failf(ErrDataType, "%v has 0 bits", t.Code)
	case fixed != 0 && t.Bits != fixed:
		return failf(ErrDataType, "%v with %d bits; it has %d", t.Code, t.Bits, fixed)
	}
	return nil
}

func validateDims(dl *DLTensor) error {
	const misaligned = unsafe.Alignof(int64(0)) - 1
	switch {
	case dl.NDim < 0 || dl.NDim > MaxNDim:
		return failf(ErrShape, "ndim is %d; 0 to %d are accepted", dl.NDim, MaxNDim)
	case dl.NDim > 0 && dl.Shape == 0:
		return failf(ErrShape, "shape is NULL, but ndim is %d", dl.NDim)
	case dl.NDim > 0 && (dl.Shape|dl.Strides)&misaligned != 0:
		return failf(ErrShape, "shape or strides at an address that is no multiple of 8")
	}
	return nil
}

// reach is how far the elements of a tensor lie from the one whose indices are
// all 0, in elements: low is never positive, high never negative.
type reach struct {
	low, high int64
	empty     bool
}

// reachOf fails for extents and strides that no memory can hold. Without
// strides the tensor is dense.
func reachOf(shape, strides []int64) (reach, error) {
	for i, extent := range shape {
		if extent < 0 {
			return reach{}, failf(ErrShape, "extent %d of dimension %d is negative", extent, i)
		}
	}
	for _, extent := range shape {
		if extent == 0 {
			return reach{empty: true}, nil
		}
	}
	count, err := product(shape)
	if err != nil || strides == nil {
		return reach{high: count - 1}, err
	}
	return stridedReach(shape, strides)
}

// product multiplies extents, none of which is 0 or negative.
func product(shape []int64) (int64, error) {
	count := uint64(1)
	for _, extent := range shape {
		high, low := bits.Mul64(count, uint64(extent))
		if high != 0 || int64(low) < 0 {
			return 0, failf(ErrShape, "shape %v has more elements than fit in 63 bits", shape)
		}
		count = low
	}
	return int64(count), nil
}

func stridedReach(shape, strides []int64) (reach, error) {
	var r reach
	for i, extent := range shape {
		size := uint64(max(strides[i], -strides[i]))
		over, span := bits.Mul64(uint64(extent-1), size)
		end := &r.high
		if strides[i] < 0 {
			end = &r.low
		}
		distance := int64(span)
		if over != 0 || distance < 0 || max(*end, -*end)+distance < 0 {
			return reach{}, failf(ErrShape, "strides %v of shape %v reach farther than 63 bits", strides, shape)
		}
		if strides[i] < 0 {
			distance = -distance
		}
		*end += distance
	}
	return r, nil
}

// validateSpan tests that every element has an address. The handle of an opaque
// device is no address, so there only the offset into it counts.
func validateSpan(dl *DLTensor, r reach) error {
	width := uint64(dl.DType.Bits) * uint64(dl.DType.Lanes)
	above, high := bytesOf(uint64(r.high)+1, width)
	below, low := bytesOf(uint64(-r.low), width)
	base := uint64(dl.Data)
	if dl.Device.Type.Opaque() {
		base = 0
	}
	first, carry := bits.Add64(base, dl.ByteOffset, 0)
	_, beyond := bits.Add64(first, high, 0)
	if above || below || carry != 0 || beyond != 0 || low > first {
		return failf(ErrShape, "elements of shape %v at offset %d lie outside of memory",
			dims(&dl.Shape, dl.NDim), dl.ByteOffset)
	}
	return nil
}

// bytesOf gives the bytes of that many elements side by side; over when they do
// not fit in 64 bits.
func bytesOf(count, width uint64) (over bool, bytes uint64) {
	high, low := bits.Mul64(count, width)
	low, carry := bits.Add64(low, 7, 0)
	high += carry
	return high>>3 != 0, high<<61 | low>>3
}
