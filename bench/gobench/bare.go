package main

import (
	"math/bits"
	"runtime"
	"structs"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// bareManaged owns a tensor and contains its view.
type bareManaged struct {
	address uintptr
	tensor  *dlpack.DLTensor
	flags   dlpack.Flags
}

// init performs the necessary checks of an untrusted tensor, only for non-empty contiguous tensors
// with strides, which are the fastest to check.
func (m *bareManaged) init(p *dlpack.DLManagedTensorVersioned) bool {
	if p == nil || p.Version.Major != dlpack.MajorVersion || !good(&p.DLTensor) {
		return false
	}
	m.address, m.tensor, m.flags = uintptr(unsafe.Pointer(p)), &p.DLTensor, p.Flags
	return true
}

func good(t *dlpack.DLTensor) bool {
	shape, strides, n := load(&t.Shape), load(&t.Strides), uintptr(t.NDim)
	if shape == nil || strides == nil || n > dlpack.MaxNDim || t.DType.Lanes != 1 || t.DType.Bits&7 != 0 ||
		t.DType.Bits == 0 {
		return false
	}
	size, over, large := uint64(1), uint64(0), uint64(t.Data)|t.ByteOffset
	for i := n * 8; i != 0; {
		i -= 8
		extent := *(*uint64)(unsafe.Add(shape, i))
		if *(*uint64)(unsafe.Add(strides, i)) != size || extent == 0 {
			return false
		}
		high, low := bits.Mul64(size, extent)
		size, over, large = low, over|high, large|low|extent
	}
	high, size := bits.Mul64(size, uint64(t.DType.Bits/8))
	return over|high|(large|size)>>61 == 0 && t.Data != 0
}

func load(field *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(field)) }

const bareNDim = 8 // room for shapes

// bareSlot mirrors C.
type bareSlot struct {
	_            structs.HostLayout
	managed      dlpack.DLManagedTensorVersioned
	number, next uint32
	owner        uintptr
	dims         [2 * bareNDim]int64
}

// bareList is a list of free slots, to which C deleters return slots.
type bareList struct {
	head  *uint64
	slots []bareSlot
	pins  []runtime.Pinner
}

func (l *bareList) take() *bareSlot {
	const mask = 1<<numberBits - 1
	for {
		head := atomic.LoadUint64(l.head)
		if head&mask == 0 {
			return nil
		}
		s := &l.slots[head&mask-1]
		next := head&^mask + 1<<numberBits | uint64(atomic.LoadUint32(&s.next))
		if atomic.CompareAndSwapUint64(l.head, head, next) {
			return s
		}
	}
}

// export is for elements that need no pin, such as those in memory of C.
func (l *bareList) export(data []float32, shape ...int64) *dlpack.DLManagedTensorVersioned {
	if !holds(shape, len(data)) {
		return nil
	}
	s := l.take()
	if s == nil {
		return nil
	}
	write(&s.managed, &s.dims, bareDeleter, s.managed.ManagerCtx, unsafe.Pointer(&data[0]), shape)
	return &s.managed
}

// exportShared exports another tensor of a buffer, and keeps the buffer alive.
func (l *bareList) exportShared(b *bareBuffer) *dlpack.DLManagedTensorVersioned {
	s := l.take()
	if s == nil {
		return nil
	}
	atomic.AddUint64(&b.shares, 1<<32)
	m := &s.managed
	m.Version.Major, m.Version.Minor = dlpack.MajorVersion, dlpack.MinorVersion
	m.Deleter, m.Flags, m.DLTensor = bareSharedDeleter, 0, b.tensor
	s.owner = uintptr(unsafe.Pointer(b))
	return m
}

// exportPinned also pins the slice, and unpins the slot's previous slice.
func (l *bareList) exportPinned(data []float32, shape ...int64) *dlpack.DLManagedTensorVersioned {
	if !holds(shape, len(data)) {
		return nil
	}
	s := l.take()
	if s == nil {
		return nil
	}
	pin := &l.pins[s.number-1]
	pin.Unpin()
	pin.Pin(&data[0])
	write(&s.managed, &s.dims, bareDeleter, s.managed.ManagerCtx, unsafe.Pointer(&data[0]), shape)
	return &s.managed
}

// holds reports whether a shape has the given number of elements, and few enough dimensions for a
// slot.
func holds(shape []int64, count int) bool {
	size, over := uint64(1), uint64(0)
	for _, extent := range shape {
		high, low := bits.Mul64(size, uint64(extent))
		size, over = low, over|high
	}
	return over == 0 && size == uint64(count) && count != 0 && len(shape) <= bareNDim
}

// bareBuffer mirrors C.
type bareBuffer struct {
	_       structs.HostLayout
	managed dlpack.DLManagedTensorVersioned
	shares  uint64
	tensor  dlpack.DLTensor
	dims    [2 * bareNDim]int64
	data    [6]float32
}

func (b *bareBuffer) export() *dlpack.DLManagedTensorVersioned {
	if atomic.AddUint64(&b.shares, 1<<32)>>32 != 1 {
		return nil
	}
	m := &b.managed
	m.Version.Major, m.Version.Minor = dlpack.MajorVersion, dlpack.MinorVersion
	m.ManagerCtx, m.Deleter, m.Flags, m.DLTensor = 0, bareBufferDeleter, 0, b.tensor
	return m
}

// write sets all fields, because the previous user of the struct may have changed them.
func write(m *dlpack.DLManagedTensorVersioned, dims *[2 * bareNDim]int64, deleter, ctx uintptr, first unsafe.Pointer,
	shape []int64) {
	m.Version.Major, m.Version.Minor = dlpack.MajorVersion, dlpack.MinorVersion
	m.ManagerCtx, m.Deleter, m.Flags = ctx, deleter, 0
	t := &m.DLTensor
	t.Data, t.Device.Type, t.Device.ID, t.NDim = uintptr(first), dlpack.DeviceCPU, 0, int32(len(shape))
	t.DType.Code, t.DType.Bits, t.DType.Lanes = dlpack.CodeFloat, 32, 1
	t.Shape, t.Strides, t.ByteOffset = uintptr(unsafe.Pointer(&dims[0])), uintptr(unsafe.Pointer(&dims[bareNDim])), 0
	next := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		dims[i], dims[bareNDim+i] = shape[i], next
		next *= shape[i]
	}
}

// bareData returns the elements of a contiguous tensor on the CPU.
func bareData(t *dlpack.DLTensor) []float32 {
	if t.DType != dlpack.DTypeFloat32 || t.Device.Type != dlpack.DeviceCPU {
		return nil
	}
	shape, strides := load(&t.Shape), load(&t.Strides)
	count := int64(1)
	for i := uintptr(t.NDim) * 8; i != 0; {
		i -= 8
		if *(*int64)(unsafe.Add(strides, i)) != count {
			return nil
		}
		count *= *(*int64)(unsafe.Add(shape, i))
	}
	first := unsafe.Add(load(&t.Data), t.ByteOffset)
	if uintptr(first)%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(first), count)
}

// bareViews mirrors C.
type bareViews struct {
	_       structs.HostLayout
	tensors [3]dlpack.DLTensor
	dims    [3][4]int64
	stream  uintptr
}
