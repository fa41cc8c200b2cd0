//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"slices"
	"unsafe"
)

// Pointer returns the address of the element whose indices are all 0, to pass it to C; nil for
// memory that the host cannot read, and for an empty tensor. go vet accepts it, unlike a conversion
// of [Tensor.Addr]. The memory is valid until the tensor's owner releases it.
func (t Tensor) Pointer() unsafe.Pointer {
	if t.Len() == 0 || !t.Device().Type.HostReadable() {
		return nil
	}
	return t.first()
}

// Strided returns the elements of a tensor with gaps, such as a padded matrix, in the form for
// BLAS, without copying: the memory from the first element to the last, and the strides in
// elements. The element i, j of a matrix is data[i*strides[0]+j*strides[1]]. The memory in the gaps
// is part of data. The slice is valid until the tensor's owner releases it, and must not be
// written: see [WritableStrided].
//
// A matrix whose rows are contiguous has strides[1] == 1, and strides[0] is its
// leading dimension: Stride in gonum, lda in C.
//
//	data, strides, err := dlpack.Strided[float64](t)
//	...
//	m := blas64.General{Rows: rows, Cols: columns, Stride: int(strides[0]), Data: data}
//	C.cblas_dgemv(C.CblasRowMajor, C.CblasNoTrans, rows, columns, 1,
//		(*C.double)(t.Pointer()), C.int(strides[0]), ...)
//
// The strides are a copy. Strides of dimensions with one element, which have no meaning in a
// tensor, are replaced with those of a contiguous tensor. For packed elements see [PackedData], for
// copies [Copy].
//
// The errors are those of [Data], with [ErrNotContiguous] for negative strides, because the memory
// then begins before the first element.
func Strided[T Element](t Tensor) (data []T, strides []int64, err error) {
	if t, err = as[T](t); err != nil {
		return nil, nil, err
	}
	strides = stridesOf(t)
	if t.Len() == 0 {
		return []T{}, strides, nil
	}
	last := int64(0)
	for i, extent := range t.Shape() {
		if strides[i] < 0 {
			return nil, nil, failf(ErrNotContiguous, "stride %d of dimension %d is negative", strides[i], i)
		}
		last += strides[i] * (extent - 1)
	}
	return unsafe.Slice((*T)(t.first()), last+1), strides, nil
}

// WritableStrided is [Strided] for writing. It fails with [ErrReadOnly] if the tensor is read-only.
// Write only the elements, and not the gaps.
func WritableStrided[T Element](t Tensor) (data []T, strides []int64, err error) {
	if t.IsReadOnly() {
		return nil, nil, readOnly()
	}
	return Strided[T](t)
}

// stridesOf copies the strides. Strides without a meaning are those of a contiguous tensor.
func stridesOf(t Tensor) []int64 {
	shape, next := t.Shape(), int64(1)
	given, strides := t.Strides(), make([]int64, len(shape))
	for i, extent := range slices.Backward(shape) {
		strides[i] = next
		if given != nil && extent != 1 {
			strides[i] = given[i]
		}
		if extent != 1 {
			next = strides[i] * max(extent, 1)
		}
	}
	return strides
}

// owned is a tensor over a slice. It keeps the memory and the dimensions alive, because mirrors
// contain numbers, which the collector does not follow. All three must be on the heap, because
// numbers are not adjusted when a stack moves. Therefore, the function that creates it is not
// inlined.
type owned struct {
	tensor DLTensor
	first  unsafe.Pointer
	dims   []int64
}

// TensorOf returns a writable row-major view of a slice, for functions of this package with a
// Tensor argument, such as [Copy] and [At], and for printing. Without a shape, it has one
// dimension; the product of the extents of a shape must be len(data). The view keeps the slice
// alive, and needs no release. For a consumer in another language see [Export].
//
// The error is [ErrShape].
//
//go:noinline
func TensorOf[T Element](data []T, shape ...int64) (Tensor, error) {
	if shape == nil {
		shape = []int64{int64(len(data))}
	}
	if len(shape) > MaxNDim {
		return Tensor{}, tooManyDimensions(len(shape))
	}
	n := len(shape)
	o := &owned{first: unsafe.Pointer(unsafe.SliceData(data)), dims: append(slices.Clone(shape), make([]int64, n)...)}
	o.tensor = DLTensor{Data: uintptr(o.first), Device: Device{Type: DeviceCPU}, NDim: int32(n), DType: DataTypeOf[T]()}
	if n > 0 {
		o.tensor.Shape = uintptr(unsafe.Pointer(&o.dims[0]))
		copy(o.dims[n:], stridesOf(Tensor{&o.tensor, 0}))
		o.tensor.Strides = uintptr(unsafe.Pointer(&o.dims[n]))
	}
	r, err := rangeOf(shape, nil)
	if err != nil {
		return Tensor{}, err
	}
	if count := r.count(); count != uint64(len(data)) {
		return Tensor{}, failf(ErrShape, "shape %v has %d elements, the slice has %d", slices.Clone(shape), count,
			len(data))
	}
	return Tensor{&o.tensor, 0}, nil
}

// count returns the number of elements of a contiguous tensor.
func (r elementRange) count() uint64 {
	if r.empty {
		return 0
	}
	return r.after + 1
}

// Copy copies the elements of a tensor to another tensor of the same shape and type, with any
// strides. The tensors must not overlap. Use [TensorOf] to copy from or to a slice.
//
// The errors are those of [Data] except [ErrNotContiguous], [ErrShape] if the shapes differ, and
// [ErrReadOnly].
func Copy[T Element](dst, src Tensor) error {
	if dst.IsReadOnly() {
		return readOnly()
	}
	to, err := as[T](dst)
	if err != nil {
		return err
	}
	from, err := as[T](src)
	switch {
	case err != nil:
		return err
	case !slices.Equal(to.Shape(), from.Shape()):
		return failf(ErrShape, "%v to copy to, %v to copy from", slices.Clone(to.Shape()), slices.Clone(from.Shape()))
	case to.Len() == 0:
		return nil
	}
	copyAlong[T](to.first(), from.first(), to.Shape(), stridesOf(to), stridesOf(from))
	return nil
}

// copyAlong copies the elements along the first dimension, after recursion into the others.
func copyAlong[T Element](to, from unsafe.Pointer, shape, toStrides, fromStrides []int64) {
	bytes := int64(unsafe.Sizeof(*new(T)))
	switch {
	case len(shape) == 0:
		*(*T)(to) = *(*T)(from)
	case len(shape) == 1 && toStrides[0] == 1 && fromStrides[0] == 1:
		copy(unsafe.Slice((*T)(to), shape[0]), unsafe.Slice((*T)(from), shape[0]))
	case len(shape) == 1:
		for i := range shape[0] {
			*(*T)(unsafe.Add(to, i*toStrides[0]*bytes)) = *(*T)(unsafe.Add(from, i*fromStrides[0]*bytes))
		}
	default:
		for i := range shape[0] {
			copyAlong[T](unsafe.Add(to, i*toStrides[0]*bytes), unsafe.Add(from, i*fromStrides[0]*bytes), shape[1:],
				toStrides[1:], fromStrides[1:])
		}
	}
}
