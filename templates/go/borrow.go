//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "unsafe"

// BorrowTensor gives a view of a tensor with another owner, such as an argument that C passes
// as a DLTensor *. It is valid as long as the struct and the memory are. The struct has no flags:
// the caller passes them, [FlagReadOnly] where writing is forbidden. The strides may be absent.
//
// What cannot be a tensor is rejected with [ErrArgument], [ErrShape], [ErrDataType] or [ErrData].
func BorrowTensor(p *DLTensor, flags Flags) (Tensor, error) {
	if p == nil || uintptr(unsafe.Pointer(p))%unsafe.Alignof(*p) != 0 {
		return Tensor{}, failf(ErrArgument, "no tensor: the pointer is nil or not aligned")
	}
	t := Tensor{p, flags}
	if plain(p) {
		return t, nil
	}
	if err := validate(t, true); err != nil {
		return Tensor{}, err
	}
	return t, nil
}
