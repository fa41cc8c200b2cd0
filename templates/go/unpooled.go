//go:build ignore && cgo && (asan || msan) && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "export.h"
import "C"
import "unsafe"

// unpooled is set if a tool detects uses of freed memory.
const unpooled = true

// consumers returns a copy of the slot that the deleter frees: the tool would not
// see that a slot was released, since it is never freed.
func (s *slot) consumers() *slot {
	lent := C.dlp_00000000_lend((*C.struct_dlp_00000000_slot)(unsafe.Pointer(s)))
	if lent == nil {
		return s
	}
	return (*slot)(unsafe.Pointer(lent))
}
