//go:build dlpackgen_template && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include <stdlib.h>
// #include "export.h"
import "C"

import (
	"runtime"
	"structs"
	"sync"
	"unsafe"
)

const (
	slotNDim  = C.dlp_00000000_SLOT_NDIM
	slabSlots = C.dlp_00000000_SLAB_SLOTS
)

// slot mirrors the C struct that a consumer gets. It holds no Go pointer.
type slot struct {
	_       structs.HostLayout
	managed DLManagedTensorVersioned // or a DLManagedTensor in its place
	dims    [2 * slotNDim]int64      // shape, then strides
	next    uintptr                  // released before this one
	index   uint64                   // in exporter.slots
	padding [4]uint64
}

// The slot has the same layout in C; dlpack.h's structs have guards of their own.
func _() {
	var x [1]struct{}
	_ = x[unsafe.Sizeof(slot{})-C.sizeof_struct_dlp_00000000_slot]
	_ = x[unsafe.Offsetof(slot{}.dims)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.dims)]
	_ = x[unsafe.Offsetof(slot{}.next)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.next)]
	_ = x[unsafe.Offsetof(slot{}.index)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.index)]
}

// legacy gives the slot as what fillLegacy made of it.
func (s *slot) legacy() *DLManagedTensor {
	return (*DLManagedTensor)(unsafe.Pointer(&s.managed))
}

// held is Go's half of a slot.
type held struct {
	slot *slot
	pins runtime.Pinner
	dims unsafe.Pointer // C memory for shape and strides that do not fit, or nil
}

// export is what a slot is filled with.
type export struct {
	first          unsafe.Pointer // nil without elements
	dtype          DataType
	shape, strides []int64 // nil strides mean row-major
	flags          Flags
	legacy         bool
}

// exporter keeps the slots: C memory that is used again, so that an export makes
// no call into C until the free slots run out.
type exporter struct {
	mu    sync.Mutex
	slots []*held // by slot.index
	free  []*held
	armed bool // a sweep follows the next garbage collection
}

var exports exporter

// Drain takes back the tensors that consumers have released, so that their
// slices are no longer pinned, and tells how many are not released yet. Exports
// and garbage collections do the same in passing.
func Drain() int {
	exports.mu.Lock()
	defer exports.mu.Unlock()
	exports.reclaim()
	return exports.outstanding()
}

// DoubleReleases counts how often a consumer has called the deleter of a tensor
// that was already released: each one is a bug of that consumer, which was
// caught because the tensor had not been exported anew meanwhile.
func DoubleReleases() uint64 { return uint64(C.dlp_00000000_trapped()) }

// take makes a managed tensor in a free slot. All of it happens under the lock,
// which also orders the writes for the race detector.
func (e *exporter) take(x export) (*slot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h, err := e.pop()
	if err != nil {
		return nil, err
	}
	tensor, err := h.hold(x)
	if err != nil {
		e.free = append(e.free, h)
		return nil, err
	}
	h.slot.fill(tensor, x)
	e.arm()
	return h.slot, nil
}

func (e *exporter) pop() (*held, error) {
	if len(e.free) == 0 {
		e.reclaim()
	}
	if len(e.free) == 0 {
		if err := e.grow(); err != nil {
			return nil, err
		}
	}
	last := len(e.free) - 1
	h := e.free[last]
	e.free = e.free[:last]
	return h, nil
}

func (e *exporter) grow() error {
	slab := (*slot)(unsafe.Pointer(C.dlp_00000000_new_slab()))
	if slab == nil {
		return failf(ErrNoMemory, "no room for %d more tensors", slabSlots)
	}
	made := unsafe.Slice(slab, slabSlots)
	for i := range made {
		made[i].index = uint64(len(e.slots))
		h := &held{slot: &made[i]}
		e.slots = append(e.slots, h)
		e.free = append(e.free, h)
	}
	return nil
}

// reclaim takes back the slots that consumers have released. The crossing into C
// is also what tells the race detector that they are done with them.
func (e *exporter) reclaim() {
	if e.outstanding() == 0 {
		return
	}
	for s := (*slot)(unsafe.Pointer(C.dlp_00000000_take_released())); s != nil; s = (*slot)(loadPtr(&s.next)) {
		h := e.slots[s.index]
		h.drop()
		e.free = append(e.free, h)
	}
}

func (e *exporter) outstanding() int { return len(e.slots) - len(e.free) }

// arm makes the next garbage collection reclaim: an object that nobody points to
// has a cleanup that does it, and arms anew while tensors are outstanding.
func (e *exporter) arm() {
	if e.armed {
		return
	}
	e.armed = true
	runtime.AddCleanup(new(*exporter), (*exporter).sweep, e)
}

func (e *exporter) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.armed = false
	e.reclaim()
	if e.outstanding() > 0 {
		e.arm()
	}
}

// hold pins the data, and gives the tensor with its shape and strides in C
// memory. On an error nothing is held.
func (h *held) hold(x export) (DLTensor, error) {
	ndim := len(x.shape)
	dims := h.slot.dims[:]
	if ndim > slotNDim {
		h.dims = C.calloc(C.size_t(2*ndim), C.sizeof_int64_t)
		if h.dims == nil {
			return DLTensor{}, failf(ErrNoMemory, "no room for %d dimensions", ndim)
		}
		dims = unsafe.Slice((*int64)(h.dims), 2*ndim)
	}
	tensor := DLTensor{Device: Device{Type: DeviceCPU}, NDim: int32(ndim), DType: x.dtype}
	if ndim > 0 {
		tensor.Shape, tensor.Strides = address(&dims[0]), address(&dims[ndim])
		copyDims(dims, x.shape, x.strides)
	}
	if x.first != nil {
		h.pins.Pin(x.first)
		tensor.Data = uintptr(x.first)
	}
	return tensor, nil
}

func (h *held) drop() {
	h.pins.Unpin()
	if h.dims != nil {
		C.free(h.dims)
		h.dims = nil
	}
}

func address(p *int64) uintptr { return uintptr(unsafe.Pointer(p)) }

// copyDims writes the shape and, right after it, the strides, which DLPack 1.2
// requires.
func copyDims(dims, shape, strides []int64) {
	copy(dims, shape)
	after := dims[len(shape):]
	if strides != nil {
		copy(after, strides)
		return
	}
	next := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		after[i] = next
		next *= max(shape[i], 1)
	}
}

// The deleters' addresses, as numbers for the mirrors.
var (
	deleter       = uintptr(unsafe.Pointer(C.dlp_00000000_release))
	deleterLegacy = uintptr(unsafe.Pointer(C.dlp_00000000_release_legacy))
)

func (s *slot) fill(t DLTensor, x export) {
	if x.legacy {
		*s.legacy() = DLManagedTensor{DLTensor: t, Deleter: deleterLegacy}
		return
	}
	s.managed = DLManagedTensorVersioned{
		Version:  Version{Major: MajorVersion, Minor: MinorVersion},
		Deleter:  deleter,
		Flags:    x.flags,
		DLTensor: t,
	}
}
