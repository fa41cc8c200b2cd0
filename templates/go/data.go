//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"unsafe"
)

// Data returns the elements of a contiguous tensor in memory that the host can read, in row-major
// order and without copying. The slice is valid until the tensor's owner releases it. It must not
// be written: see [WritableData].
//
// For other orders and strides see [Runs] and [At], for elements narrower than a byte [PackedData].
// In Go, a bool with a byte other than 0 and 1 is undefined; if you do not trust the producer, use
// [Bool].
//
// The errors are [ErrReleased] (the zero Tensor), [ErrDataType], [ErrDevice], [ErrNotContiguous],
// and [ErrData] if the address is not aligned for T.
func Data[T Element](t Tensor) ([]T, error) {
	var none T
	// The common case without a call, which would cost half as much again.
	if dl := t.dl; dl != nil && dl.Device.Type == DeviceCPU && dl.DType.Bits == uint8(8*unsafe.Sizeof(none)) &&
		dl.DType.Lanes == 1 {
		usual := false
		switch dl.DType.Code {
		case codeFloat:
			usual = isFloat[T]()
		case codeInt:
			usual = isInt[T]()
		case codeUint:
			usual = isUint[T]()
		}
		count, contiguous := compact(loadPtr(&dl.Shape), loadPtr(&dl.Strides), dl.NDim)
		if usual && contiguous && count != 0 { // an empty tensor may have any address
			if first := t.first(); uintptr(first)%unsafe.Alignof(none) == 0 {
				return unsafe.Slice((*T)(first), count), nil
			}
		}
	}
	return dataOf[T](t)
}

// dataOf implements Data.
func dataOf[T Element](t Tensor) ([]T, error) {
	if err := unreadable(t, DataTypeOf[T]()); err != nil {
		return nil, err
	}
	count, contiguous := compact(loadPtr(&t.dl.Shape), loadPtr(&t.dl.Strides), t.dl.NDim)
	if count == 0 {
		return []T{}, nil
	}
	first := t.first()
	if !contiguous || uintptr(first)%unsafe.Alignof(*new(T)) != 0 {
		return nil, unsuitable(t, contiguous)
	}
	return unsafe.Slice((*T)(first), count), nil
}

// isFloat reports whether T is Go's own float type of its size, not a type derived from it. It is
// one comparison if the compiler knows the size.
func isFloat[T Element]() (is bool) {
	var none any = *new(T)
	switch unsafe.Sizeof(*new(T)) {
	case 4:
		_, is = none.(float32)
	case 8:
		_, is = none.(float64)
	}
	return is
}

func isInt[T Element]() (is bool) {
	var none any = *new(T)
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		_, is = none.(int8)
	case 2:
		_, is = none.(int16)
	case 4:
		_, is = none.(int32)
	case 8:
		_, is = none.(int64)
	}
	return is
}

func isUint[T Element]() (is bool) {
	var none any = *new(T)
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		_, is = none.(uint8)
	case 2:
		_, is = none.(uint16)
	case 4:
		_, is = none.(uint32)
	case 8:
		_, is = none.(uint64)
	}
	return is
}

// WritableData is [Data] for writing. It fails with [ErrReadOnly] if the tensor is read-only.
func WritableData[T Element](t Tensor) ([]T, error) {
	if t.IsReadOnly() {
		return nil, readOnly()
	}
	return Data[T](t)
}

// compact counts the elements, and reports whether they are contiguous in row-major order. Strides
// of dimensions with one element, and of empty tensors, do not count. Without strides, the order is
// row-major. It reads bare arrays, because it is most of the work of [Data].
func compact(shape, strides unsafe.Pointer, ndim int32) (count int64, contiguous bool) {
	count, contiguous = 1, true
	for i := ndim - 1; i >= 0; i-- {
		extent := *(*int64)(unsafe.Add(shape, i*8))
		if extent != 1 && strides != nil && *(*int64)(unsafe.Add(strides, i*8)) != count {
			contiguous = false
		}
		count *= extent
	}
	return count, contiguous || count == 0
}

// unreadable returns why the elements of a tensor cannot be read as that type, or nil.
func unreadable(t Tensor, want DataType) error {
	switch {
	case t.dl == nil:
		return failf(ErrReleased, "its data was released or exported")
	case t.DataType() != want:
		return failf(ErrDataType, "elements are %v, requested %v", t.DataType(), want)
	case !t.Device().Type.HostReadable():
		return failf(ErrDevice, "data is on %v", t.Device())
	}
	return nil
}

// unsuitable returns why the elements of a readable tensor cannot be a slice.
func unsuitable(t Tensor, contiguous bool) error {
	if !contiguous {
		return failf(ErrNotContiguous, "strides %v of shape %v", t.Strides(), t.Shape())
	}
	return failf(ErrData, "%v elements at %#x are not aligned", t.DataType(), t.Addr())
}

func readOnly() error {
	return failf(ErrReadOnly, "the producer forbids writing, or cannot declare the tensor writable: see WritableTensor")
}

// as returns the tensor if its elements are Ts, in any order, or the zero Tensor with an error.
func as[T Element](t Tensor) (Tensor, error) {
	if err := unreadable(t, DataTypeOf[T]()); err != nil {
		return Tensor{}, err
	}
	if t.Len() != 0 && uintptr(t.first())%unsafe.Alignof(*new(T)) != 0 {
		return Tensor{}, unsuitable(t, true)
	}
	return t, nil
}
