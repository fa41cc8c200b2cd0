//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

// #include "call.h"
import "C"

import (
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// valueOf converts a result (owned) or an argument of a callback. Texts are copied.
func valueOf(p packed, owned bool) (Value, error) {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p.bits))
	switch p.index {
	case isPointer, isDLTensor:
		return Value{p.index, p.bits, at}, nil
	case rawText:
		return String(C.GoString((*C.char)(at))), nil
	case rawBytes:
		return Bytes([]byte(textIn((*C.struct_dlpackgen_tvm_ffi_byte_array)(at)))), nil
	case smallText, smallBytes:
		few := (*[8]byte)(unsafe.Pointer(&p.bits))
		return textValue(string(few[:min(p.size, 7)]), p.index == smallBytes), nil
	case isText, isBytes:
		if owned {
			defer C.dlp_00000000_release_object(C.uintptr_t(p.bits))
		}
		text := textIn(bodyOf[C.struct_dlpackgen_tvm_ffi_byte_array](uintptr(p.bits)))
		return textValue(text, p.index == isBytes), nil
	case isRValue:
		object := *(*uintptr)(at)
		head := *(*unsafe.Pointer)(unsafe.Pointer(&object))
		index := int32((*C.struct_dlpackgen_tvm_ffi_object)(head).type_index)
		return valueOf(packed{index: index, bits: uint64(object)}, false)
	}
	return objectOf(p, owned)
}

func textValue(text string, bytes bool) Value {
	v := String(text)
	if bytes {
		v.index = rawBytes
	}
	return v
}

// objectOf is valueOf for objects and for values without an address.
func objectOf(p packed, owned bool) (Value, error) {
	if p.index < firstObject || !owned {
		return Value{index: p.index, bits: p.bits}, nil
	}
	if err := requireRuntime(); err != nil {
		return Value{}, err // the caller could neither use nor release it
	}
	o := new(owner)
	o.own(uintptr(p.bits))
	return Value{p.index, p.bits, unsafe.Pointer(o)}, nil
}

// alive reports whether an object is borrowed, or not released yet.
func (v *Value) alive() bool {
	if v.ptr == nil {
		return true
	}
	_, open := (*owner)(v.ptr).get()
	return open
}

// object returns the address of an object of a kind.
func (v *Value) object(want string, kinds ...int32) (uintptr, error) {
	for _, kind := range kinds {
		if v.index == kind {
			if !v.alive() {
				return 0, failf(ErrClosed, "the %s was released", v.Kind())
			}
			return uintptr(v.bits), nil
		}
	}
	return 0, v.expect(want, false)
}

// Release releases the reference of the Value and all its copies; further calls do nothing. It does
// nothing for values without a reference.
func (v Value) Release() {
	if v.index < firstObject || v.ptr == nil {
		return
	}
	if address := (*owner)(v.ptr).end(); address != 0 {
		C.dlp_00000000_release_object(C.uintptr_t(address))
	}
}

// Retain returns a Value with a new reference, for example to keep an argument of a callback.
// Values that are not objects are returned unchanged. Errors: [ErrClosed], and [ErrKind] for
// tensors that were passed without an object, which are valid only during the callback.
func (v Value) Retain() (Value, error) {
	switch {
	case v.index == isDLTensor:
		return Value{}, failf(ErrKind, "expected an object, got a DLTensor, which cannot be kept")
	case v.index < firstObject:
		return v, nil
	}
	address, err := v.object("an object", v.index)
	if err != nil {
		return Value{}, err
	}
	C.dlp_00000000_retain_object(C.uintptr_t(address))
	return objectOf(packed{index: v.index, bits: v.bits}, true)
}

// Tensor returns a view of a tensor, which is valid until the Value is released, or until the
// callback that received it returns. The view is writable, because tvm-ffi has no read-only flag.
// Errors: [ErrKind], [ErrClosed], and those of dlpack.BorrowTensor.
func (v Value) Tensor() (dlpack.Tensor, error) {
	if v.index == isDLTensor {
		return dlpack.BorrowTensor((*dlpack.DLTensor)(v.ptr), 0)
	}
	address, err := v.object("tensor", isTensor)
	if err != nil {
		return dlpack.Tensor{}, err
	}
	return dlpack.BorrowTensor(bodyOf[dlpack.DLTensor](address), 0)
}

// Managed returns a tensor with a new reference, which the caller must release. Errors: those of
// [Value.Tensor] and of dlpack.Import.
func (v Value) Managed() (*dlpack.Managed, error) {
	address, err := v.object("tensor", isTensor)
	if err != nil {
		return nil, err
	}
	reply := C.dlp_00000000_managed_of(C.uintptr_t(address))
	if reply.index < 0 {
		return nil, raised(&reply)
	}
	managed := uintptr(reply.bits)
	return dlpack.Import(*(**dlpack.DLManagedTensorVersioned)(unsafe.Pointer(&managed)))
}

// NewTensor converts m to a tvm-ffi tensor, which a callback may return and a function may keep. It
// takes ownership of m, also on error. Errors: [ErrRuntime], [ErrArgument] for a tensor without a
// version, and [*Error] for a tensor that tvm-ffi does not support.
func NewTensor(m *dlpack.Managed) (Value, error) {
	if err := requireRuntime(); err != nil {
		m.Release()
		return Value{}, err
	}
	managed, legacy := m.Detach()
	if managed == nil {
		if legacy != nil {
			_ = m.InitLegacy(legacy)
			m.Release()
		}
		return Value{}, failf(ErrArgument, "expected a versioned tensor")
	}
	reply := C.dlp_00000000_tensor_of(C.uintptr_t(uintptr(unsafe.Pointer(managed))))
	if reply.index < 0 { // which leaves the tensor unchanged
		_ = m.Init(managed)
		m.Release()
	}
	return finish(reply)
}

// Items returns the items of an array or a list, each with a new reference. Release the items.
// Errors: [ErrKind], [ErrClosed].
func (v Value) Items() ([]Value, error) {
	address, err := v.object("array", isArray, isList)
	if err != nil {
		return nil, err
	}
	cell := bodyOf[C.struct_dlpackgen_tvm_ffi_seq_cell](address)
	var items []Value
	for _, p := range unsafe.Slice((*packed)(cell.data), int(cell.size)) {
		item, err := valueOf(p, false)
		if err == nil {
			item, err = item.Retain()
		}
		if err != nil {
			return nil, err // an array holds neither
		}
		items = append(items, item)
	}
	return items, nil
}

// Shape returns the extents of a shape. Errors: [ErrKind], [ErrClosed].
func (v Value) Shape() ([]int64, error) {
	address, err := v.object("shape", isShape)
	if err != nil {
		return nil, err
	}
	cell := bodyOf[C.struct_dlpackgen_tvm_ffi_shape_cell](address)
	return append([]int64{}, unsafe.Slice((*int64)(unsafe.Pointer(cell.data)), int(cell.size))...), nil
}

// SetAllocator sets an exchange table, such as one from dlpack.NewExchangeAPI, with which functions
// in the process allocate their results if the caller has no allocator. Errors: [ErrRuntime],
// [ErrArgument], [*Error].
func SetAllocator(api *dlpack.DLPackExchangeAPI) error {
	if err := requireRuntime(); err != nil {
		return err
	}
	if api == nil || api.ManagedTensorAllocator == 0 {
		return failf(ErrArgument, "the table has no allocator")
	}
	reply := C.dlp_00000000_allocate_by(C.uintptr_t(api.ManagedTensorAllocator))
	_, err := finish(reply)
	return err
}
