//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math"
	"unsafe"
)

// Tensor is a borrowed view of a tensor with another owner. It is valid
// until its owner releases it, and may be read by many goroutines at once. The
// zero Tensor, which is also what a released [Managed] gives, has no
// dimensions, no elements and no data.
type Tensor struct {
	dl    *DLTensor
	flags Flags
}

// noTensor is what the methods of the zero Tensor read.
var noTensor DLTensor

func (t Tensor) raw() *DLTensor {
	if t.dl == nil {
		return &noTensor
	}
	return t.dl
}

// Device is where the data lies.
func (t Tensor) Device() Device { return t.raw().Device }

// DataType is the type of one element.
func (t Tensor) DataType() DataType { return t.raw().DType }

// NDim is the number of dimensions; 0 for a scalar.
func (t Tensor) NDim() int { return int(t.raw().NDim) }

// Flags are the producer's. A legacy or a borrowed tensor carries none: it has
// [FlagReadOnly], since nothing declares it writable.
func (t Tensor) Flags() Flags { return t.flags }

// IsReadOnly tells whether writing is forbidden: by the producer, or since a legacy
// or a borrowed tensor cannot say that it is allowed. See [Managed.WritableTensor]
// and [View.WritableTensor].
func (t Tensor) IsReadOnly() bool { return t.flags&FlagReadOnly != 0 }

// Shape gives the extents. The slice is the producer's own memory: read it,
// never write it, and copy it to keep it longer than the tensor. That of a scalar
// is empty and not nil, which [Export] and [TensorOf] would take for one dimension.
func (t Tensor) Shape() []int64 {
	dl := t.raw()
	if dl.NDim == 0 {
		return []int64{}
	}
	return dims(&dl.Shape, dl.NDim)
}

// Strides gives the distance, in elements, between neighbours along each
// dimension; it may be zero or negative. It is nil when the producer gave none,
// which means row-major and contiguous (allowed before DLPack 1.2). The slice is the
// producer's own memory, as with [Tensor.Shape].
func (t Tensor) Strides() []int64 {
	dl := t.raw()
	return dims(&dl.Strides, dl.NDim)
}

// Len is the number of elements: the product of the extents, 1 for a scalar.
func (t Tensor) Len() int {
	if t.dl == nil {
		return 0
	}
	n := int64(1)
	for _, extent := range t.Shape() {
		n *= extent
	}
	return int(n)
}

// Addr is the address of the element whose indices are all 0. For a device that
// the host cannot read it is only a number; where [DeviceType.Opaque] holds it
// is the bare handle, and the byte offset stands in [Tensor.Raw].
func (t Tensor) Addr() uintptr {
	dl := t.raw()
	if dl.Device.Type.Opaque() {
		return dl.Data
	}
	return dl.Data + uintptr(dl.ByteOffset)
}

// Raw gives the struct itself, for what this package does not cover; nil for
// the zero Tensor. It is the producer's: never write it.
func (t Tensor) Raw() *DLTensor { return t.dl }

// IsContiguous tells whether the elements lie side by side in row-major order, as in
// C. The strides of dimensions with one element, and of tensors with none, say
// nothing and are not looked at.
func (t Tensor) IsContiguous() bool {
	dl := t.raw()
	_, contiguous := compact(loadPtr(&dl.Shape), loadPtr(&dl.Strides), dl.NDim)
	return contiguous
}

// IsFContiguous tells whether the elements lie side by side in column-major
// order, as in Fortran, by the same rule. A tensor of one dimension can have
// both orders.
func (t Tensor) IsFContiguous() bool {
	shape := t.Shape()
	next, contiguous := int64(1), true
	for i, extent := range shape {
		if extent != 1 && t.Stride(i) != next {
			contiguous = false
		}
		next *= extent
	}
	return contiguous || next == 0
}

// Stride is the distance, in elements, between neighbours along a dimension,
// also where the producer gave no strides. It panics as a slice does when there
// is no such dimension.
func (t Tensor) Stride(dimension int) int64 {
	if strides := t.Strides(); strides != nil {
		return strides[dimension]
	}
	stride := int64(1)
	for _, extent := range t.Shape()[dimension:][1:] {
		stride *= extent
	}
	return stride
}

// NBytes is the bytes that the elements take side by side, padding of narrow ones
// included: what a copy takes. For a tensor with gaps, or with strides of 0, its
// memory has another size. It is at most math.MaxInt.
func (t Tensor) NBytes() int {
	size, fits := bytesOf(uint64(t.Len()), elementBits(t.DataType(), t.flags))
	if !fits {
		return math.MaxInt
	}
	return int(size)
}

// IsPadded tells whether each element narrower than a byte has a byte of its own,
// instead of being packed.
func (t Tensor) IsPadded() bool { return t.flags&FlagIsSubbyteTypePadded != 0 }

// first points to the element whose indices are all 0, of a tensor that the host
// can read.
func (t Tensor) first() unsafe.Pointer {
	return unsafe.Add(loadPtr(&t.dl.Data), t.dl.ByteOffset)
}

// dims reads the array whose address is kept in field.
func dims(field *uintptr, n int32) []int64 {
	p := (*int64)(loadPtr(field))
	if p == nil || n <= 0 {
		return nil
	}
	return unsafe.Slice(p, n)
}

// loadPtr reads a pointer out of a pointer-free mirror. A typed load, unlike a
// conversion from uintptr, keeps vet and checkptr able to do their work.
func loadPtr(field *uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(field))
}
