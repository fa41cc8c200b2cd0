//go:build ignore && dlpackcheck && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"sync/atomic"
	"unsafe"
)

// storePtr writes a pointer into C memory as a pointer, so that a program built
// with GOEXPERIMENT=cgocheck2 ends where it is not pinned. The old value must be
// gone by then, since it may be the address of memory that the collector has
// freed; by an atomic store, which the compiler does not leave out.
func storePtr(field *uintptr, p unsafe.Pointer) {
	atomic.StoreUintptr(field, 0)
	*(*unsafe.Pointer)(unsafe.Pointer(field)) = p
}
