//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "unsafe"

// BorrowTensor returns a view of a tensor with another owner, such as a C argument of type DLTensor
// *. The view is valid as long as the struct and the memory. The struct has no flags, so the caller
// passes them: [FlagReadOnly] if writing is forbidden. The strides may be absent.
//
// An invalid tensor is rejected with [ErrArgument], [ErrShape], [ErrDataType] or [ErrData].
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
