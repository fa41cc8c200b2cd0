//go:build ignore && !dlpackcheck && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "unsafe"

// storePtr writes a pointer into a pointer-free mirror in C memory.
func storePtr(field *uintptr, p unsafe.Pointer) { *field = uintptr(p) }
