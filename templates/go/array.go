//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"errors"
	"unsafe"
)

// Array is a tensor with elements of type T in memory that the host can read. Kernels in Go receive
// their arguments as Arrays. An Array is a view, valid during the call. The zero Array is absent:
// it represents the argument None.
type Array[T Element] struct{ Tensor }

// NewArray returns a view of a slice, like [TensorOf], to call a kernel in Go from Go.
func NewArray[T Element](data []T, shape ...int64) (Array[T], error) {
	t, err := TensorOf(data, shape...)
	return Array[T]{t}, err
}

// ArrayOf converts a tensor with elements of type T. The errors are those of [At] except
// [ErrIndex].
func ArrayOf[T Element](t Tensor) (Array[T], error) {
	t, err := as[T](t)
	return Array[T]{t}, err
}

// CheckedArray is [ArrayOf] for a C tensor that is already checked; nil results in an absent Array.
// Generated code calls it.
func CheckedArray[T Element](p *DLTensor, flags Flags) Array[T] { return Array[T]{Tensor{p, flags}} }

// CheckedTensor is [BorrowTensor] for a C tensor that is already checked. Generated code calls it.
func CheckedTensor(p *DLTensor, flags Flags) Tensor { return Tensor{p, flags} }

// IsAbsent reports whether there is no tensor, because the argument is None.
func (a Array[T]) IsAbsent() bool { return a.dl == nil }

// Dim returns the extent of a dimension; negative dimensions count from the last one, which is -1.
// Like a slice, it panics if the dimension is out of range.
func (a Array[T]) Dim(dimension int) int {
	if dimension < 0 {
		dimension += a.NDim()
	}
	return int(a.Shape()[dimension])
}

// Data returns the memory from the first element to the last, without copying. For a contiguous
// array, these are the elements. Otherwise, the memory in the gaps is included: the element i, j of
// a matrix is Data()[i*Stride(0)+j*Stride(1)]. The result is nil if a stride is negative, because
// the memory then begins before the first element, and if the array is absent.
func (a Array[T]) Data() []T {
	if a.dl == nil {
		return nil
	}
	last, backward := a.last()
	if backward {
		return nil
	}
	if last < 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(a.first()), last+1)
}

// last returns the distance from the first element to the last, or -1 if there is none.
func (a Array[T]) last() (last int64, backward bool) {
	shape, strides := a.Shape(), a.Strides()
	next := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		stride := next
		if strides != nil {
			stride = strides[i]
		}
		if shape[i] == 0 {
			return -1, false
		}
		if shape[i] > 1 && stride < 0 {
			backward = true
		}
		last += (shape[i] - 1) * stride
		next *= shape[i]
	}
	return last, backward
}

// Get returns the element with the given indices, one for each dimension, with any strides. It
// panics if an index is out of range. [Array.Data] is several times faster.
func (a Array[T]) Get(indices ...int64) T { return *a.at(indices) }

// Set writes the element with the given indices.
func (a Array[T]) Set(value T, indices ...int64) { *a.at(indices) = value }

func (a Array[T]) at(indices []int64) *T {
	shape, offset := a.Shape(), int64(0)
	_ = indices[:len(shape)]
	for d, index := range indices {
		_ = make([]struct{}, shape[d])[index] // allocates nothing, and has Go's own message
		offset += index * a.Stride(d)
	}
	return (*T)(unsafe.Add(a.first(), offset*int64(unsafe.Sizeof(*new(T)))))
}

// WithStatus adds a positive status to an error of a kernel in Go. The key `errors:` of the
// kernel's description selects the exception for the status.
func WithStatus(status int32, err error) error { return &statusError{err, status} }

type statusError struct {
	error
	status int32
}

// Unwrap returns the wrapped error.
func (e *statusError) Unwrap() error { return e.error }

// StatusOf returns the status of an error, or 0 if it has none.
func StatusOf(err error) int32 {
	var found *statusError
	if errors.As(err, &found) {
		return found.status
	}
	return 0
}
