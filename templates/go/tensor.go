//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math"
	"unsafe"
)

// Tensor is a borrowed view of a tensor. It is valid until the tensor's owner releases it, and
// several goroutines may read it at once. The zero Tensor, which a released [Managed] also returns,
// has no dimensions, no elements and no data.
type Tensor struct {
	dl    *DLTensor
	flags Flags
}

// noTensor is the struct of the zero Tensor.
var noTensor DLTensor

func (t Tensor) raw() *DLTensor {
	if t.dl == nil {
		return &noTensor
	}
	return t.dl
}

// Device returns the device of the data.
func (t Tensor) Device() Device { return t.raw().Device }

// DataType returns the type of an element.
func (t Tensor) DataType() DataType { return t.raw().DType }

// NDim returns the number of dimensions; 0 for a scalar.
func (t Tensor) NDim() int { return int(t.raw().NDim) }

// Flags returns the producer's flags. Legacy and borrowed tensors have no flags: the result is then
// [FlagReadOnly], because nothing declares them writable.
func (t Tensor) Flags() Flags { return t.flags }

// IsReadOnly reports whether the tensor is read-only: because the producer declares it, or because
// it is a legacy or borrowed tensor, which cannot be declared writable. See
// [Managed.WritableTensor] and [View.WritableTensor].
func (t Tensor) IsReadOnly() bool { return t.flags&FlagReadOnly != 0 }

// Shape returns the extents. The slice is the producer's memory: do not write to it, and copy it to
// keep it longer than the tensor. The shape of a scalar is empty but not nil, because [Export] and
// [TensorOf] interpret nil as one dimension.
func (t Tensor) Shape() []int64 {
	dl := t.raw()
	if dl.NDim == 0 {
		return []int64{}
	}
	return dims(&dl.Shape, dl.NDim)
}

// Strides returns the strides in elements, which may be zero or negative. The result is nil if the
// tensor has no strides, which means row-major and contiguous (allowed before DLPack 1.2). The
// slice is the producer's memory, as for [Tensor.Shape].
func (t Tensor) Strides() []int64 {
	dl := t.raw()
	return dims(&dl.Strides, dl.NDim)
}

// Len returns the number of elements: the product of the extents, 1 for a scalar.
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

// Addr returns the address of the element whose indices are all 0. For a device that the host
// cannot read, it is only a number. If [DeviceType.Opaque] is true, it is the handle, and the byte
// offset is in [Tensor.Raw].
func (t Tensor) Addr() uintptr {
	dl := t.raw()
	if dl.Device.Type.Opaque() {
		return dl.Data
	}
	return dl.Data + uintptr(dl.ByteOffset)
}

// Raw returns the struct itself, for uses that this package does not cover; nil for the zero
// Tensor. The producer owns the struct: do not modify it.
func (t Tensor) Raw() *DLTensor { return t.dl }

// IsContiguous reports whether the tensor is C-contiguous: row-major without gaps. The strides of
// dimensions with one element, and of empty tensors, are not checked.
func (t Tensor) IsContiguous() bool {
	dl := t.raw()
	_, contiguous := compact(loadPtr(&dl.Shape), loadPtr(&dl.Strides), dl.NDim)
	return contiguous
}

// IsFContiguous reports whether the tensor is column-major without gaps, as in Fortran, by the same
// rule. A tensor with one dimension can have both orders.
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

// Stride returns the stride of a dimension in elements, even if the tensor has no strides. An
// extent of 0 then counts as 1, as in NumPy and PyTorch. Like a slice, Stride panics if the
// dimension is out of range.
func (t Tensor) Stride(dimension int) int64 {
	if strides := t.Strides(); strides != nil {
		return strides[dimension]
	}
	stride := int64(1)
	for _, extent := range t.Shape()[dimension:][1:] {
		stride *= max(extent, 1)
	}
	return stride
}

// NBytes returns the size of the elements in bytes without gaps, including the padding of narrow
// elements: the size of a copy. The memory of a tensor with gaps, or with strides of 0, has a
// different size. The result is at most math.MaxInt.
func (t Tensor) NBytes() int {
	size, fits := bytesOf(uint64(t.Len()), elementBits(t.DataType(), t.flags))
	if !fits {
		return math.MaxInt
	}
	return int(size)
}

// IsPadded reports whether each element narrower than a byte occupies one byte, instead of being
// packed.
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

// loadPtr reads a pointer from a pointer-free mirror. It uses a typed load, because vet and
// checkptr cannot check a conversion from uintptr.
func loadPtr(field *uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(field))
}
