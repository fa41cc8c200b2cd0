//go:build ignore && cgo && (asan || msan) && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "export.h"
import "C"
import "unsafe"

// unpooled is set if a tool detects uses of freed memory.
const unpooled = true

// consumers returns a copy of the slot that the deleter frees: a slot is never freed, so the tool
// would not detect uses after its release.
func (s *slot) consumers() *slot {
	fresh := C.dlp_00000000_new_slot((*C.struct_dlp_00000000_slot)(unsafe.Pointer(s)))
	if fresh == nil {
		return s
	}
	return (*slot)(unsafe.Pointer(fresh))
}
