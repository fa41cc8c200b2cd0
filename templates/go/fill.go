//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"runtime/cgo"
	"structs"
	"unsafe"
)

// extra mirrors the additional data of few tensors. cgo.go compares it with C.
type extra struct {
	_    structs.HostLayout
	hook uintptr
	dims [1]int64 // as many as requested
}

// deleters returns the deleters for the slot.
func (s *slot) deleters() (versioned, legacy uintptr) {
	if unpooled || s.owner|s.extra != 0 {
		return deleterAll, deleterAllLegacy
	}
	return deleter, deleterLegacy
}

// legacy returns the slot as a legacy tensor, after fill.
func (s *slot) legacy() *DLManagedTensor {
	return (*DLManagedTensor)(unsafe.Pointer(&s.managed))
}

// newExtra allocates additional data of a slot; nil if memory is exhausted.
func newExtra(hook cgo.Handle, ndim int) *extra {
	more := allocateExtra(2 * ndim)
	if more != nil {
		more.hook = uintptr(hook)
	}
	return more
}

// fill writes the fields that a consumer reads. All of them are written each time, because some
// consumers change them.
func (s *slot) fill(x *export, first unsafe.Pointer, dtype DataType) {
	t := &s.managed.DLTensor
	versioned, legacy := s.deleters()
	if x.legacy {
		managed := s.legacy()
		managed.ManagerCtx, managed.Deleter = 0, legacy
		t = &managed.DLTensor
	} else {
		s.managed.head(versioned, x.flags)
	}
	storePtr(&t.Data, first)
	t.Device.Type, t.Device.ID, t.NDim, t.ByteOffset = x.device.Type, x.device.ID, int32(len(x.shape)), 0
	t.DType.Code, t.DType.Bits, t.DType.Lanes = dtype.Code, dtype.Bits, dtype.Lanes
	t.Shape, t.Strides = 0, 0
	if len(x.shape) > 0 {
		dims := s.room(2 * len(x.shape))
		copyDims(dims, x.shape, x.strides)
		t.Shape, t.Strides = address(&dims[0]), address(&dims[len(x.shape)])
	}
}

// head writes all fields except the tensor, one by one, because the compiler would build a literal
// elsewhere and copy it.
func (m *DLManagedTensorVersioned) head(deleter uintptr, flags Flags) {
	m.Version.Major, m.Version.Minor = MajorVersion, MinorVersion
	m.ManagerCtx, m.Deleter, m.Flags = 0, deleter, flags
}

// room returns the memory for the dims.
func (s *slot) room(n int) []int64 {
	if n <= len(s.dims) {
		return s.dims[:n]
	}
	more := (*extra)(loadPtr(&s.extra))
	return unsafe.Slice(&more.dims[0], n)
}

func address(p *int64) uintptr { return uintptr(unsafe.Pointer(p)) }

// copyDims writes the shape and, right after it, the strides, which DLPack 1.2
// requires.
func copyDims(dims, shape, strides []int64) {
	after := dims[len(shape):][:len(shape)]
	if strides != nil {
		copy(dims, shape)
		copy(after, strides)
		return
	}
	next := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		dims[i], after[i] = shape[i], next
		next *= max(shape[i], 1)
	}
}
