//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"errors"
	"unsafe"
)

// Array is a tensor in memory that the host can read, whose elements are known to be T: what a
// kernel in Go takes. It is a view, valid during the call. The zero Array is absent: an argument
// that is None.
type Array[T Element] struct{ Tensor }

// NewArray gives a view of a slice, as [TensorOf] does, to call a kernel in Go from Go.
func NewArray[T Element](data []T, shape ...int64) (Array[T], error) {
	t, err := TensorOf(data, shape...)
	return Array[T]{t}, err
}

// ArrayOf gives a tensor whose elements are T. The errors are those of [At] but for [ErrIndex].
func ArrayOf[T Element](t Tensor) (Array[T], error) {
	t, err := as[T](t)
	return Array[T]{t}, err
}

// CheckedArray is [ArrayOf] for a tensor of C that is checked already; nil gives an absent Array.
// Generated code calls it.
func CheckedArray[T Element](p *DLTensor, flags Flags) Array[T] { return Array[T]{Tensor{p, flags}} }

// CheckedTensor is [BorrowTensor] for a tensor of C that is checked already, likewise.
func CheckedTensor(p *DLTensor, flags Flags) Tensor { return Tensor{p, flags} }

// IsAbsent tells whether there is no tensor: the argument is None.
func (a Array[T]) IsAbsent() bool { return a.dl == nil }

// Dim is the extent of a dimension; a negative one counts from the last, which is -1. It panics as
// a slice does when there is no such dimension.
func (a Array[T]) Dim(dimension int) int {
	if dimension < 0 {
		dimension += a.NDim()
	}
	return int(a.Shape()[dimension])
}

// Data gives the memory from the first element to the last, without copying. Of a contiguous array
// these are the elements. With gaps, what lies between them is in it too: the element i, j of a
// matrix is Data()[i*Stride(0)+j*Stride(1)]. It is nil where a stride is negative, since the memory
// then begins before the first element, and where the array is absent.
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

// last is the distance from the first element to the last, or -1 where there is none.
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

// Get gives the element with those indices, one for each dimension, whatever the strides are. It
// panics when there is no such element. [Array.Data] is several times faster.
func (a Array[T]) Get(indices ...int64) T { return *a.at(indices) }

// Set writes that element.
func (a Array[T]) Set(value T, indices ...int64) { *a.at(indices) = value }

func (a Array[T]) at(indices []int64) *T {
	shape, offset := a.Shape(), int64(0)
	_ = indices[:len(shape)]
	for d, index := range indices {
		_ = make([]struct{}, shape[d])[index] // takes no memory, and has Go's own message
		offset += index * a.Stride(d)
	}
	return (*T)(unsafe.Add(a.first(), offset*int64(unsafe.Sizeof(*new(T)))))
}

// WithStatus gives an error of a kernel in Go a positive status, for which `errors:` of its
// description names an exception.
func WithStatus(status int32, err error) error { return &statusError{err, status} }

type statusError struct {
	error
	status int32
}

// Unwrap lets the error itself be found.
func (e *statusError) Unwrap() error { return e.error }

// StatusOf gives the status of an error; 0 for one without.
func StatusOf(err error) int32 {
	var found *statusError
	if errors.As(err, &found) {
		return found.status
	}
	return 0
}
