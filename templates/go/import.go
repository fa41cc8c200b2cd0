//go:build ignore && !(386 || arm || mips || mipsle || wasm)

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
	"sync"
	"sync/atomic"
	"unsafe"
)

// Managed owns a tensor that a producer handed over. Release it exactly when
// its data is no longer needed; nothing is released by the garbage collector,
// since slices from [Data] may outlive the Managed. Built with the tag
// dlpackdebug, a program reports those that were not released: see [Leaks].
//
// The zero Managed owns nothing, and [Managed.Init] fills it. A Managed must not
// be copied.
type Managed struct {
	_       [0]sync.Mutex // go vet then finds copies
	address uintptr       // of the producer's struct; 0 once given away, by atomic operations
	legacy  bool          // the struct is a DLManagedTensor
	frozen  bool          // by SetReadOnly
	tensor  Tensor
	trace   trace
}

// Import takes ownership of a tensor that a producer made: a pointer to C's
// struct of the same name, such as a "dltensor_versioned" capsule holds. It
// takes ownership also when it fails: the deleter has then run, and the caller
// must not touch the pointer again.
//
// A tensor with another major version is rejected with [ErrVersion], and nothing
// but its deleter is touched, as the rules of DLPack demand. What else cannot
// be a tensor is rejected with [ErrShape], [ErrDataType] or [ErrData]. The device
// and the type may be any, known here or not; [Data] is what tests them.
// [ErrArgument] means that p is nil or not aligned, and nothing was touched.
func Import(p *DLManagedTensorVersioned) (*Managed, error) {
	m := new(Managed)
	if err := m.Init(p); err != nil {
		return nil, err
	}
	return m, nil
}

// ImportLegacy is [Import] for the struct without version and flags, such as a
// "dltensor" capsule holds. Its strides may be absent. The struct cannot say
// whether the tensor may be written, so it is read-only here: JAX, for one, hands
// out its immutable arrays so. See [Managed.WritableTensor].
func ImportLegacy(p *DLManagedTensor) (*Managed, error) {
	m := new(Managed)
	if err := m.InitLegacy(p); err != nil {
		return nil, err
	}
	return m, nil
}

// Init is [Import] into a Managed of the caller's, such as a field of a larger
// struct: it allocates nothing. On an error m owns nothing. A Managed that owns
// a tensor already keeps it, and the new one is deleted, with [ErrArgument].
func (m *Managed) Init(p *DLManagedTensorVersioned) error {
	if p == nil || uintptr(unsafe.Pointer(p))%unsafe.Alignof(*p) != 0 {
		return noStruct(unsafe.Pointer(p))
	}
	if p.Version.Major != MajorVersion || m.owns() {
		return m.reject(p)
	}
	if !plain(&p.DLTensor) {
		if err := validate(Tensor{&p.DLTensor, p.Flags}, p.Version.Minor < nullStridesBefore); err != nil {
			deleteNow(p)
			return err
		}
	}
	m.adopt(uintptr(unsafe.Pointer(p)), false, Tensor{&p.DLTensor, p.Flags})
	return nil
}

// InitLegacy is [Managed.Init] as [ImportLegacy] is Import.
func (m *Managed) InitLegacy(p *DLManagedTensor) error {
	if p == nil || uintptr(unsafe.Pointer(p))%unsafe.Alignof(*p) != 0 {
		return noStruct(unsafe.Pointer(p))
	}
	if m.owns() {
		deleteNowLegacy(p)
		return errOwns()
	}
	if !plain(&p.DLTensor) {
		if err := validate(Tensor{&p.DLTensor, 0}, true); err != nil {
			deleteNowLegacy(p)
			return err
		}
	}
	m.adopt(uintptr(unsafe.Pointer(p)), true, Tensor{&p.DLTensor, FlagReadOnly})
	return nil
}

// adopt needs no atomic store: sharing a Managed with other goroutines
// does so after Init.
func (m *Managed) adopt(address uintptr, legacy bool, t Tensor) {
	m.address, m.legacy, m.tensor = address, legacy, t
	m.track()
}

// noStruct rejects what cannot be a managed tensor at all, so that there is no
// deleter to run either.
func noStruct(p unsafe.Pointer) error {
	if p == nil {
		return failf(ErrArgument, "no tensor: the pointer is nil")
	}
	return failf(ErrArgument, "no tensor: the address %#x is not aligned", p)
}

// reject deletes a tensor of which nothing but version and deleter was read.
func (m *Managed) reject(p *DLManagedTensorVersioned) error {
	err := errOwns()
	if p.Version.Major != MajorVersion {
		err = failf(ErrVersion, "%v, this package serves %d.x", p.Version, MajorVersion)
	}
	deleteNow(p)
	return err
}

func errOwns() error { return failf(ErrArgument, "the Managed owns a tensor already") }

func deleteNow(p *DLManagedTensorVersioned) {
	C.dlp_00000000_delete(C.uintptr_t(uintptr(unsafe.Pointer(p))))
}

func deleteNowLegacy(p *DLManagedTensor) {
	C.dlp_00000000_delete_legacy(C.uintptr_t(uintptr(unsafe.Pointer(p))))
}

func (m *Managed) owns() bool { return atomic.LoadUintptr(&m.address) != 0 }

// take ends the ownership, and gives the address of the producer's struct to the
// one caller that ended it; 0 to all others.
func (m *Managed) take() uintptr {
	address := atomic.SwapUintptr(&m.address, 0)
	if address != 0 {
		m.untrack()
	}
	return address
}

// Tensor gives the view to read, valid until Release; the zero Tensor after it.
func (m *Managed) Tensor() Tensor {
	if !m.owns() {
		return Tensor{}
	}
	return m.tensor
}

// WritableTensor is [Managed.Tensor] for a caller that knows what a legacy struct
// cannot say: that the memory may be written. It changes nothing about a tensor
// whose producer, or [Managed.SetReadOnly], says that it is read-only.
func (m *Managed) WritableTensor() Tensor {
	t := m.Tensor()
	if m.legacy && !m.frozen {
		t.flags &^= FlagReadOnly
	}
	return t
}

// Release runs the producer's deleter, exactly once however often and from
// however many goroutines it is called.
func (m *Managed) Release() {
	switch address := m.take(); {
	case address == 0:
	case m.legacy:
		C.dlp_00000000_delete_legacy(C.uintptr_t(address))
	default:
		C.dlp_00000000_delete(C.uintptr_t(address))
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
	case m.take() == 0:
		return nil, nil
	case m.legacy:
		return nil, (*DLManagedTensor)(unsafe.Pointer(dl))
	default:
		head := unsafe.Add(unsafe.Pointer(dl), -int(unsafe.Offsetof(DLManagedTensorVersioned{}.DLTensor)))
		return (*DLManagedTensorVersioned)(head), nil
	}
}
