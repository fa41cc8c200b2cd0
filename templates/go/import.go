//go:build dlpackgen_template && !(386 || arm || mips || mipsle || wasm)

package dlpack

/*
#include "dlpack.h"

// Addresses come as numbers: cgo would test a pointer argument for Go memory
// behind it, which costs more than the rest of the call.
static inline void dlp_00000000_delete(uintptr_t address) {
	DLManagedTensorVersioned *managed = (DLManagedTensorVersioned *)address;
	if (managed->deleter) managed->deleter(managed);
}

static inline void dlp_00000000_delete_legacy(uintptr_t address) {
	DLManagedTensor *managed = (DLManagedTensor *)address;
	if (managed->deleter) managed->deleter(managed);
}
*/
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// Managed owns a tensor that a producer handed over. Release it exactly when
// its data is no longer needed; nothing is released by the garbage collector,
// since slices from [Data] may outlive the Managed. A Managed must not be
// copied.
type Managed struct {
	address atomic.Uintptr // of the producer's struct; 0 once given away
	legacy  bool           // the struct is a DLManagedTensor
	tensor  Tensor
}

// Import takes ownership of a tensor that a producer made: a pointer to C's
// struct of the same name, such as a "dltensor_versioned" capsule holds. It
// takes ownership also when it fails: the deleter has then run, and the caller
// must not touch the pointer again.
//
// A tensor with another major version is refused with [ErrVersion], and nothing
// but its deleter is touched, as the rules of DLPack demand. What else cannot
// be a tensor is refused with [ErrShape], [ErrDataType] or [ErrData]. The device
// and the type may be any, known here or not; [Data] is what tests them.
func Import(p *DLManagedTensorVersioned) (*Managed, error) {
	if err := checkAddress(unsafe.Pointer(p)); err != nil {
		return nil, err
	}
	m := new(Managed)
	m.address.Store(uintptr(unsafe.Pointer(p)))
	if p.Version.Major != MajorVersion {
		err := failf(ErrVersion, "%v, this package serves %d.x", p.Version, MajorVersion)
		m.Release()
		return nil, err
	}
	return m.adopt(Tensor{&p.DLTensor, p.Flags}, p.Version.Minor < 2)
}

// ImportLegacy is [Import] for the struct without version and flags, such as a
// "dltensor" capsule holds. Its strides may be absent, and whether it may be
// written is unknown.
func ImportLegacy(p *DLManagedTensor) (*Managed, error) {
	if err := checkAddress(unsafe.Pointer(p)); err != nil {
		return nil, err
	}
	m := &Managed{legacy: true}
	m.address.Store(uintptr(unsafe.Pointer(p)))
	return m.adopt(Tensor{&p.DLTensor, 0}, true)
}

// checkAddress refuses what cannot be a managed tensor at all, so that there is
// no deleter to run either.
func checkAddress(p unsafe.Pointer) error {
	if p == nil {
		return failf(ErrArgument, "no tensor: the pointer is nil")
	}
	if uintptr(p)%unsafe.Alignof(DLManagedTensorVersioned{}) != 0 {
		return failf(ErrArgument, "no tensor: the address %#x is not aligned", p)
	}
	return nil
}

// adopt validates. NULL strides were legal until DLPack 1.2, and still are where
// no version is given.
func (m *Managed) adopt(t Tensor, nullStrides bool) (*Managed, error) {
	if err := validate(t, nullStrides); err != nil {
		m.Release()
		return nil, err
	}
	m.tensor = t
	return m, nil
}

// Tensor gives the view to read, valid until Release; the zero Tensor after it.
func (m *Managed) Tensor() Tensor {
	if m.address.Load() == 0 {
		return Tensor{}
	}
	return m.tensor
}

// Release runs the producer's deleter, exactly once however often and from
// however many goroutines it is called.
func (m *Managed) Release() {
	address := C.uintptr_t(m.address.Swap(0))
	switch {
	case address == 0:
	case m.legacy:
		C.dlp_00000000_delete_legacy(address)
	default:
		C.dlp_00000000_delete(address)
	}
}

// Close is [Managed.Release], for io.Closer; it never fails.
func (m *Managed) Close() error {
	m.Release()
	return nil
}

// Detach gives the producer's struct back instead of releasing it: the caller,
// or the consumer that the pointer goes to, then owns it. One of the results is
// nil, both after a Release.
func (m *Managed) Detach() (*DLManagedTensorVersioned, *DLManagedTensor) {
	dl := m.tensor.dl
	switch {
	case m.address.Swap(0) == 0:
		return nil, nil
	case m.legacy:
		return nil, (*DLManagedTensor)(unsafe.Pointer(dl))
	default:
		head := unsafe.Add(unsafe.Pointer(dl), -int(unsafe.Offsetof(DLManagedTensorVersioned{}.DLTensor)))
		return (*DLManagedTensorVersioned)(head), nil
	}
}
