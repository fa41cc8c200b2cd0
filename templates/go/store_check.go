//go:build ignore && dlpackcheck && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"sync/atomic"
	"unsafe"
)

// storePtr writes a pointer into C memory as a pointer, so that a program built with
// GOEXPERIMENT=cgocheck2 fails if it is not pinned. The old value is overwritten first, because it
// may be the address of memory that the collector has freed. This needs an atomic store, which the
// compiler does not remove.
func storePtr(field *uintptr, p unsafe.Pointer) {
	atomic.StoreUintptr(field, 0)
	*(*unsafe.Pointer)(unsafe.Pointer(field)) = p
}
