//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

import (
	"sync"
	"sync/atomic"
)

// owner has a library or a reference to an object, until it is ended.
type owner struct {
	_       [0]sync.Mutex // go vet then finds copies
	address uintptr       // by atomic operations; 0 once ended
}

func (o *owner) own(address uintptr) { o.address = address }

// get returns the address, and whether it is still owned.
func (o *owner) get() (uintptr, bool) {
	address := atomic.LoadUintptr(&o.address)
	return address, address != 0
}

// end returns the address to the one caller that ended the ownership; 0 to all others.
func (o *owner) end() uintptr { return atomic.SwapUintptr(&o.address, 0) }
