//go:build dlpackgen_template && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"reflect"
	"unsafe"
)

// Element is a Go type whose values can be the elements of a tensor.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// DataTypeOf gives the data type with the layout of T. An int or uint is 64
// bits wide: this package exists on 64-bit platforms only.
func DataTypeOf[T Element]() DataType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return DTypeFloat32
	case float64:
		return DTypeFloat64
	case uint8:
		return DTypeUInt8
	case int32:
		return DTypeInt32
	case int64:
		return DTypeInt64
	}
	return dataTypeOfKind(reflect.TypeOf(zero).Kind())
}

// dataTypeOfKind serves the rarer types, and those with a name of their own.
func dataTypeOfKind(kind reflect.Kind) DataType {
	switch kind {
	case reflect.Int8:
		return DTypeInt8
	case reflect.Int16:
		return DTypeInt16
	case reflect.Int32:
		return DTypeInt32
	case reflect.Uint8:
		return DTypeUInt8
	case reflect.Uint16:
		return DTypeUInt16
	case reflect.Uint32:
		return DTypeUInt32
	case reflect.Uint64, reflect.Uint:
		return DTypeUInt64
	case reflect.Float32:
		return DTypeFloat32
	case reflect.Float64:
		return DTypeFloat64
	case reflect.Complex64:
		return DTypeComplex64
	case reflect.Complex128:
		return DTypeComplex128
	default:
		return DTypeInt64 // the one kind left that Element admits: int64 and int
	}
}

// Data gives the elements of a dense tensor in memory that the host can read,
// in row-major order and without copying. The slice is valid until the tensor's
// owner releases it, and must not be written: see [MutableData].
//
// The errors are [ErrReleased] (the zero Tensor), [ErrDataType], [ErrDevice],
// [ErrNotDense], and [ErrData] when the address does not suit T.
func Data[T Element](t Tensor) ([]T, error) {
	if err := readable(t, DataTypeOf[T]()); err != nil {
		return nil, err
	}
	count := t.Len()
	if count == 0 {
		return []T{}, nil
	}
	first := unsafe.Add(loadPtr(&t.dl.Data), t.dl.ByteOffset)
	if uintptr(first)%unsafe.Alignof(*new(T)) != 0 {
		return nil, failf(ErrData, "%v elements at %#x are not aligned", t.DataType(), first)
	}
	return unsafe.Slice((*T)(first), count), nil
}

// MutableData is [Data] for writing: it fails with [ErrReadOnly] when the
// producer forbids that.
func MutableData[T Element](t Tensor) ([]T, error) {
	if t.ReadOnly() {
		return nil, failf(ErrReadOnly, "the producer set its flag")
	}
	return Data[T](t)
}

// readable tells why the elements of a tensor cannot be a slice of that type.
func readable(t Tensor, want DataType) error {
	switch {
	case t.dl == nil:
		return failf(ErrReleased, "it has no data any more")
	case t.DataType() != want:
		return failf(ErrDataType, "elements are %v, asked for %v", t.DataType(), want)
	case !t.Device().Type.HostReadable():
		return failf(ErrDevice, "data lies on %v", t.Device())
	case !t.IsDense():
		return failf(ErrNotDense, "strides %v of shape %v", t.Strides(), t.Shape())
	}
	return nil
}
