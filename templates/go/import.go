//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Managed owns a tensor from a producer. Release it when its data is no longer needed. The garbage
// collector does not release it, because slices from [Data] may outlive the Managed. A program that
// is built with the tag dlpackdebug reports tensors that were not released: see [Leaks].
//
// The zero Managed owns nothing; [Managed.Init] initializes it. A Managed must not be copied.
type Managed struct {
	_       [0]sync.Mutex // go vet then finds copies
	address uintptr       // of the producer's struct; 0 after the ownership has ended, by atomic operations
	legacy  bool          // the struct is a DLManagedTensor
	frozen  bool          // by SetReadOnly
	tensor  Tensor
	trace   trace
}

// Import takes ownership of a producer's tensor: a pointer to the C struct of the same name, for
// example from a "dltensor_versioned" capsule. It also takes ownership on error: the deleter has
// then run, and the caller must not use the pointer again.
//
// A tensor with another major version is rejected with [ErrVersion], and only its deleter is used,
// as DLPack requires. Other invalid tensors are rejected with [ErrShape], [ErrDataType] or
// [ErrData]. Any device and data type is accepted, known or unknown; [Data] checks them.
// [ErrArgument] means that p is nil or not aligned, and was not accessed.
func Import(p *DLManagedTensorVersioned) (*Managed, error) {
	m := new(Managed)
	if err := m.Init(p); err != nil {
		return nil, err
	}
	return m, nil
}

// ImportLegacy is [Import] for the struct without version and flags, for example from a "dltensor"
// capsule. Its strides may be absent. The struct has no read-only flag, so the tensor counts as
// read-only: JAX, for example, exports its immutable arrays in this struct. See
// [Managed.WritableTensor].
func ImportLegacy(p *DLManagedTensor) (*Managed, error) {
	m := new(Managed)
	if err := m.InitLegacy(p); err != nil {
		return nil, err
	}
	return m, nil
}

// Init is [Import] into an existing Managed, such as a field of a larger struct, without an
// allocation. On error, m owns nothing. If m already owns a tensor, it keeps that tensor, the new
// one is deleted, and the error is [ErrArgument].
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
	m.own(uintptr(unsafe.Pointer(p)), false, Tensor{&p.DLTensor, p.Flags})
	return nil
}

// InitLegacy is [Managed.Init] for the struct without version and flags, like [ImportLegacy].
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
	m.own(uintptr(unsafe.Pointer(p)), true, Tensor{&p.DLTensor, FlagReadOnly})
	return nil
}

// own needs no atomic store, because a Managed is shared with other goroutines only after Init.
func (m *Managed) own(address uintptr, legacy bool, t Tensor) {
	m.address, m.legacy, m.tensor = address, legacy, t
	m.track()
}

// noStruct rejects a pointer that cannot be a managed tensor, whose deleter cannot be called
// either.
func noStruct(p unsafe.Pointer) error {
	if p == nil {
		return failf(ErrArgument, "no tensor: the pointer is nil")
	}
	return failf(ErrArgument, "no tensor: the address %#x is not aligned", p)
}

// reject deletes a tensor of which only the version and the deleter were read.
func (m *Managed) reject(p *DLManagedTensorVersioned) error {
	err := errOwns()
	if p.Version.Major != MajorVersion {
		err = otherVersion(p.Version)
	}
	deleteNow(p)
	return err
}

func errOwns() error { return failf(ErrArgument, "the Managed owns a tensor already") }

func deleteNow(p *DLManagedTensorVersioned) { deleteVersioned(uintptr(unsafe.Pointer(p))) }

func deleteNowLegacy(p *DLManagedTensor) { deleteLegacy(uintptr(unsafe.Pointer(p))) }

func (m *Managed) owns() bool { return atomic.LoadUintptr(&m.address) != 0 }

// take ends the ownership, and returns the address of the producer's struct to the caller that
// ended it, and 0 to all others.
func (m *Managed) take() uintptr {
	address := atomic.SwapUintptr(&m.address, 0)
	if address != 0 {
		m.untrack()
	}
	return address
}

// Tensor returns a view for reading, valid until Release; the zero Tensor afterwards.
func (m *Managed) Tensor() Tensor {
	if !m.owns() {
		return Tensor{}
	}
	return m.tensor
}

// WritableTensor is [Managed.Tensor] for a caller that knows that the memory of a legacy tensor is
// writable, which the struct cannot declare. A tensor remains read-only if its producer, or
// [Managed.SetReadOnly], declared it as such.
func (m *Managed) WritableTensor() Tensor {
	t := m.Tensor()
	if m.legacy && !m.frozen {
		t.flags &^= FlagReadOnly
	}
	return t
}

// Release calls the producer's deleter, exactly once, even if it is called several times or from
// several goroutines.
func (m *Managed) Release() {
	switch address := m.take(); {
	case address == 0:
	case m.legacy:
		deleteLegacy(address)
	default:
		deleteVersioned(address)
	}
}

// Close calls [Managed.Release]. It implements io.Closer and never fails.
func (m *Managed) Close() error {
	m.Release()
	return nil
}

// Detach returns the producer's struct without releasing it: the caller then owns it, or the
// consumer to which it passes the pointer. One of the results is nil; after a Release, both are.
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
