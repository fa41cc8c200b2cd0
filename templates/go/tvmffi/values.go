//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

// #include "call.h"
import "C"

import (
	"math"
	"strconv"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Value is an argument or a result. The zero Value is None.
//
// A Value that a call returned may own an object, which its copies share. A Value that is passed to
// a callback is borrowed until the callback returns.
type Value struct {
	index int32          // tvm-ffi's kind, or invalid
	bits  uint64         // the value; the length of a text
	ptr   unsafe.Pointer // the target of bits: a tensor, a text, or the owner of an object
}

const (
	isNone      = C.DLPACKGEN_TVM_FFI_NONE
	isInt       = C.DLPACKGEN_TVM_FFI_INT
	isBool      = C.DLPACKGEN_TVM_FFI_BOOL
	isFloat     = C.DLPACKGEN_TVM_FFI_FLOAT
	isPointer   = C.DLPACKGEN_TVM_FFI_OPAQUE_POINTER
	isDataType  = C.DLPACKGEN_TVM_FFI_DATA_TYPE
	isDevice    = C.DLPACKGEN_TVM_FFI_DEVICE
	isDLTensor  = C.DLPACKGEN_TVM_FFI_DLTENSOR
	rawText     = C.DLPACKGEN_TVM_FFI_RAW_STR
	rawBytes    = C.DLPACKGEN_TVM_FFI_BYTE_ARRAY
	isRValue    = C.DLPACKGEN_TVM_FFI_RVALUE
	smallText   = C.DLPACKGEN_TVM_FFI_SMALL_STR
	smallBytes  = C.DLPACKGEN_TVM_FFI_SMALL_BYTES
	firstObject = C.DLPACKGEN_TVM_FFI_OBJECT
	isText      = C.DLPACKGEN_TVM_FFI_STR
	isBytes     = C.DLPACKGEN_TVM_FFI_BYTES
	isFunction  = C.DLPACKGEN_TVM_FFI_FUNCTION
	isShape     = C.DLPACKGEN_TVM_FFI_SHAPE
	isTensor    = C.DLPACKGEN_TVM_FFI_TENSOR
	isArray     = C.DLPACKGEN_TVM_FFI_ARRAY
	isList      = C.DLPACKGEN_TVM_FFI_LIST
)

// Kinds that need a conversion.
const (
	noFunc     = -1 // None with an address
	readOnly   = -2 // a tensor
	bareTensor = -3 // a tensor without strides, or no tensor
)

var reasons = map[int32]string{
	noFunc:     "the Func was released, or is one of a library: pass the result of its Object",
	readOnly:   "the tensor is read-only, which tvm-ffi cannot declare: pass ReadOnlyTensor if the function only reads",
	bareTensor: "the Tensor is empty or was released: pass None() where the function takes none",
}

// None returns the value None.
func None() Value { return Value{} }

// Int returns an integer value.
func Int(v int64) Value { return Value{index: isInt, bits: uint64(v)} }

// Float returns a floating-point value.
func Float(v float64) Value { return Value{index: isFloat, bits: math.Float64bits(v)} }

// Bool returns a boolean value.
func Bool(v bool) Value {
	if v {
		return Value{index: isBool, bits: 1}
	}
	return Value{index: isBool}
}

// String returns a text in UTF-8, without NUL.
func String(v string) Value {
	return Value{rawText, uint64(len(v)), unsafe.Pointer(unsafe.StringData(v))}
}

// Bytes returns bytes. They must not change during a call.
func Bytes(v []byte) Value {
	return Value{rawBytes, uint64(len(v)), unsafe.Pointer(unsafe.SliceData(v))}
}

// Pointer returns an opaque address. Go memory at the address must be pinned.
func Pointer(v unsafe.Pointer) Value { return Value{isPointer, uint64(uintptr(v)), v} }

// DataType returns a data type.
func DataType(v dlpack.DataType) Value {
	return Value{index: isDataType, bits: uint64(v.Code) | uint64(v.Bits)<<8 | uint64(v.Lanes)<<16}
}

// Device returns a device.
func Device(v dlpack.Device) Value {
	return Value{index: isDevice, bits: uint64(uint32(v.Type)) | uint64(uint32(v.ID))<<32}
}

// Tensor returns a tensor that the function may write to. It must stay valid until the call
// returns. A call with a read-only tensor, or the zero Tensor, returns [ErrArgument].
func Tensor(t dlpack.Tensor) Value {
	v := ReadOnlyTensor(t)
	if t.IsReadOnly() {
		v.index = readOnly
	}
	return v
}

// ReadOnlyTensor returns a tensor for a function that only reads it. tvm-ffi has no read-only flag:
// the caller must ensure that the function does not write.
func ReadOnlyTensor(t dlpack.Tensor) Value {
	p := unsafe.Pointer(t.Raw())
	v := Value{isDLTensor, uint64(uintptr(p)), p}
	if p == nil || t.Raw().Strides == 0 {
		v.index = bareTensor
	}
	return v
}

// strided is a tensor with strides, which functions of tvm-ffi rely on.
type strided struct {
	dlpack.DLTensor
	strides []int64
}

// fillStrides sets the strides of a tensor without strides to those of its shape. A scalar needs
// none.
func (v *Value) fillStrides() {
	dl := (*dlpack.DLTensor)(v.ptr)
	t, err := dlpack.BorrowTensor(dl, 0)
	if err == nil && dl.NDim != 0 {
		s := &strided{*dl, make([]int64, dl.NDim)}
		for i := range s.strides {
			s.strides[i] = t.Stride(i)
		}
		s.Strides = uintptr(unsafe.Pointer(unsafe.SliceData(s.strides)))
		dl = &s.DLTensor
	}
	*v = Value{isDLTensor, uint64(uintptr(unsafe.Pointer(dl))), unsafe.Pointer(dl)}
}

// Function returns a function as a value. A function of a library is not an object: pass the result
// of [Func.Object].
func Function(f *Func) Value {
	address, open := f.owner.get()
	if !open || !f.object {
		return Value{index: noFunc}
	}
	return Value{isFunction, uint64(address), unsafe.Pointer(f.owner)}
}

// names are the Python names of kinds.
var names = map[int32]string{isNone: "None", isInt: "int", isBool: "bool", isFloat: "float", isPointer: "pointer",
	isDataType: "dtype", isDevice: "device", isDLTensor: "tensor", rawText: "str", rawBytes: "bytes",
	isFunction: "function", isShape: "shape", isTensor: "tensor", isArray: "array", isList: "list",
	C.DLPACKGEN_TVM_FFI_MAP: "map", C.DLPACKGEN_TVM_FFI_DICT: "dict", C.DLPACKGEN_TVM_FFI_MODULE: "module",
	C.DLPACKGEN_TVM_FFI_ERROR: "error", noFunc: "function", readOnly: "tensor", bareTensor: "tensor"}

// Kind returns the kind of the value: None, int, bool, float, str, bytes, tensor, function, array
// ... Other objects are "object" with the number of their type.
func (v Value) Kind() string {
	if name, known := names[v.index]; known {
		return name
	}
	return "object " + strconv.Itoa(int(v.index))
}

// IsNone reports whether the value is None.
func (v Value) IsNone() bool { return v.index == isNone }

func (v Value) expect(want string, fits bool) error {
	if fits {
		return nil
	}
	return failf(ErrKind, "expected %s, got %s", want, v.Kind())
}

// Int returns an integer; a bool is 0 or 1. Error: [ErrKind].
func (v Value) Int() (int64, error) {
	return int64(v.bits), v.expect("int", v.index == isInt || v.index == isBool)
}

// Float returns a number, also for an integer. Error: [ErrKind].
func (v Value) Float() (float64, error) {
	if v.index == isInt || v.index == isBool {
		return float64(int64(v.bits)), nil
	}
	return math.Float64frombits(v.bits), v.expect("float", v.index == isFloat)
}

// Bool returns a boolean. Error: [ErrKind].
func (v Value) Bool() (bool, error) { return v.bits != 0, v.expect("bool", v.index == isBool) }

// Text returns a text. Error: [ErrKind].
func (v Value) Text() (string, error) {
	if err := v.expect("str", v.index == rawText); err != nil {
		return "", err
	}
	return v.text(), nil
}

func (v Value) text() string { return unsafe.String((*byte)(v.ptr), int(v.bits)) }

// Bytes returns bytes, which must not be modified. Error: [ErrKind].
func (v Value) Bytes() ([]byte, error) {
	if err := v.expect("bytes", v.index == rawBytes); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(v.ptr), int(v.bits)), nil
}

// Pointer returns an address. Error: [ErrKind].
func (v Value) Pointer() (unsafe.Pointer, error) {
	return v.ptr, v.expect("pointer", v.index == isPointer)
}

// DataType returns a data type. Error: [ErrKind].
func (v Value) DataType() (dlpack.DataType, error) {
	return dlpack.DataType{Code: dlpack.DataTypeCode(v.bits), Bits: uint8(v.bits >> 8), Lanes: uint16(v.bits >> 16)},
		v.expect("dtype", v.index == isDataType)
}

// Device returns a device. Error: [ErrKind].
func (v Value) Device() (dlpack.Device, error) {
	return dlpack.Device{Type: dlpack.DeviceType(int32(v.bits)), ID: int32(v.bits >> 32)},
		v.expect("device", v.index == isDevice)
}
