//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math/bits"
	"runtime/cgo"
	"slices"
	"unsafe"
)

// ExportOptions describe an exported slice. The zero value is one writable dimension over the whole
// slice.
type ExportOptions struct {
	Shape   []int64 // extents; nil for one dimension, empty for a scalar
	Strides []int64 // in elements, zero or negative allowed; nil for row-major
	Offset  int     // index of the element whose indices in the tensor are all 0
	Flags   Flags   // flags for the consumer
	Device  Device  // the kind of host memory; the zero Device is the CPU

	// OnRelease is called once, after the consumer has called the deleter, on the same thread. The
	// deleter must then enter Go. On a foreign thread, it blocks until one of the GOMAXPROCS is
	// free, and with it its caller, which may hold a lock such as the GIL. Without OnRelease,
	// deleters never block, so prefer Drain or the garbage collector if possible. A panic in
	// OnRelease is logged and not propagated.
	OnRelease func()
}

// Export returns a tensor that shares the memory of a Go slice, for a consumer in any language.
// Without a shape, it has one dimension; the product of the extents of a shape must be len(data).
//
// The caller owns the result and passes it to one consumer, for example in a "dltensor_versioned"
// capsule. The consumer calls its deleter once, on any thread. Until then, the slice is pinned and
// stays alive, even without another pointer to it in Go. The deleter never enters Go: a later
// Export, the next garbage collection (at least every two minutes), or [Drain] unpins the slice. To
// drop a tensor without a consumer, call [Import] and Release.
//
// Go guarantees an alignment of slices of at most 8 bytes, less than some consumers prefer: see
// [Alloc]. Errors: [ErrShape], [ErrNoMemory].
func Export[T Element](data []T, shape ...int64) (*DLManagedTensorVersioned, error) {
	whole := [1]int64{int64(len(data))}
	if shape == nil {
		shape = whole[:]
	}
	dtype := DataType{Code: codeFloat, Bits: uint8(8 * unsafe.Sizeof(*new(T))), Lanes: 1}
	if isInt[T]() {
		dtype.Code = codeInt
	} else if isUint[T]() {
		dtype.Code = codeUint
	} else if !isFloat[T]() {
		dtype = DataTypeOf[T]()
	}
	return exportWhole(unsafe.Pointer(unsafe.SliceData(data)), len(data), dtype, shape)
}

// exportWhole exports a whole slice, row-major, on the CPU. It avoids calls, each of which would
// cost a tenth more.
func exportWhole(first unsafe.Pointer, count int, dtype DataType, shape []int64) (*DLManagedTensorVersioned, error) {
	if unpooled || !filled(shape, count) {
		return exportWholeSlowly(first, count, dtype, shape)
	}
	s, in := exports.near(first).popGuessed()
	if s == nil {
		return exportWholeSlowly(first, count, dtype, shape)
	}
	if s.pinned != uintptr(first) {
		in.pin(s, first)
	}
	s.track()
	s.managed.head(deleter, 0) // which does not need owner and extra
	t := &s.managed.DLTensor
	storePtr(&t.Data, first)
	t.Device.Type, t.Device.ID, t.NDim, t.ByteOffset = DeviceCPU, 0, int32(len(shape)), 0
	t.DType.Code, t.DType.Bits, t.DType.Lanes = dtype.Code, dtype.Bits, dtype.Lanes
	t.Shape, t.Strides = address(&s.dims[0]), address(&s.dims[slotNDim])
	if len(shape) == 0 {
		t.Shape, t.Strides = 0, 0
	}
	next := int64(1)
	for i := min(len(shape), slotNDim) - 1; i >= 0; i-- {
		extent := shape[i]
		s.dims[i], s.dims[slotNDim+i] = extent, next
		next *= extent
	}
	return &s.managed, nil
}

func exportWholeSlowly(first unsafe.Pointer, count int, dtype DataType, shape []int64) (*DLManagedTensorVersioned,
	error) {
	m := memory{first: first, count: count, bits: uint64(dtype.Bits), dtype: dtype}
	x := export{shape: shape}
	x.device.Type = DeviceCPU
	s, err := x.exportSlot(&m, 0)
	if err != nil {
		return nil, err
	}
	return &s.managed, nil
}

// ExportWith is [Export] with strides, an offset, flags and a hook. The byte range of the tensor
// must be inside data; without strides, the tensor must fill data from the offset to the end. A
// device that the host cannot read is rejected with [ErrDevice].
func ExportWith[T Element](data []T, o ExportOptions) (*DLManagedTensorVersioned, error) {
	m := sliceOf(data)
	s, err := exportWith(&m, &o, false)
	if err != nil {
		return nil, err
	}
	return &s.managed, nil
}

// ExportLegacy is [ExportWith] for consumers that support only the struct without flags, "dltensor"
// in Python. It rejects [FlagReadOnly] with [ErrReadOnly], because the struct cannot represent it.
func ExportLegacy[T Element](data []T, o ExportOptions) (*DLManagedTensor, error) {
	m := sliceOf(data)
	s, err := exportWith(&m, &o, true)
	if err != nil {
		return nil, err
	}
	return s.legacy(), nil
}

// memory is a slice without its type parameter, or similar memory.
type memory struct {
	first unsafe.Pointer
	count int
	bits  uint64 // of one element
	dtype DataType
	owner *buffer // whose share the tensor takes over; nil if first must be pinned
}

func sliceOf[T Element](data []T) memory {
	return memory{
		first: unsafe.Pointer(unsafe.SliceData(data)),
		count: len(data),
		bits:  8 * uint64(unsafe.Sizeof(*new(T))),
		dtype: DataTypeOf[T](),
	}
}

// export is the description of the exported tensor. It is separate from the memory, so that the
// compiler recognizes that only the memory is retained, and shapes may stay on the stack.
type export struct {
	shape, strides []int64 // nil strides mean row-major
	offset         int
	flags          Flags
	device         Device
	legacy         bool
}

func exportWith(m *memory, o *ExportOptions, legacy bool) (*slot, error) {
	x := export{o.Shape, o.Strides, o.Offset, o.Flags, o.Device, legacy}
	if legacy && o.Flags&FlagReadOnly != 0 {
		return nil, failf(ErrReadOnly, "a legacy tensor has no read-only flag")
	}
	if x.device == (Device{}) {
		x.device.Type = DeviceCPU
	}
	whole := [1]int64{int64(m.count - x.offset)}
	if x.shape == nil {
		x.shape = whole[:]
	}
	if !x.device.Type.HostReadable() {
		return nil, failf(ErrDevice, "a slice cannot be memory of %v", x.device)
	}
	if o.OnRelease == nil {
		return x.exportSlot(m, 0)
	}
	hook := cgo.NewHandle(o.OnRelease)
	s, err := x.exportSlot(m, hook)
	if err != nil {
		hook.Delete()
	}
	return s, err
}

// exportSlot fills a free slot, which retains the memory until a consumer has released it. On an
// error, nothing is retained.
func (x *export) exportSlot(m *memory, hook cgo.Handle) (*slot, error) {
	first := m.first
	if x.strides != nil || x.offset != 0 || !filled(x.shape, m.count) {
		var err error
		if first, err = x.place(m); err != nil {
			return nil, err
		}
	}
	s, in, err := exports.take(first)
	if err != nil {
		return nil, err
	}
	var more *extra
	if hook != 0 || len(x.shape) > slotNDim {
		if more = newExtra(hook, len(x.shape)); more == nil {
			in.list.push(s)
			return nil, failf(ErrNoMemory, "no memory for %d dimensions", len(x.shape))
		}
	}
	if m.owner != nil {
		in.pin(s, nil)
	} else {
		in.pin(s, first)
	}
	s.track()
	s = s.consumers()
	s.owner, s.extra = uintptr(unsafe.Pointer(m.owner)), uintptr(unsafe.Pointer(more))
	s.fill(x, first, m.dtype)
	return s, nil
}

// filled is a fast check that accepts most valid shapes for a whole slice.
func filled(shape []int64, count int) bool {
	size, over := uint64(1), uint64(0)
	for _, extent := range shape {
		if extent <= 0 {
			return false
		}
		high, low := bits.Mul64(size, uint64(extent))
		size, over = low, over|high
	}
	return over == 0 && size == uint64(count) && len(shape) <= slotNDim
}

// place checks that the tensor is inside the slice, and returns its first element: nil for an empty
// tensor, as DLPack specifies. The offset is added to the pointer, because some consumers do not
// apply byte_offset.
func (x *export) place(m *memory) (unsafe.Pointer, error) {
	r, err := x.elements(m)
	if err != nil || r.empty {
		return nil, err
	}
	return unsafe.Add(m.first, uint64(x.offset)*m.bits/8), nil
}

func (x *export) elements(m *memory) (elementRange, error) {
	if len(x.shape) > MaxNDim {
		return elementRange{}, tooManyDimensions(len(x.shape))
	}
	if x.strides != nil && len(x.strides) != len(x.shape) {
		return elementRange{}, failf(ErrShape, "%d strides for %d dimensions", len(x.strides), len(x.shape))
	}
	if x.offset < 0 || x.offset > m.count {
		return elementRange{}, failf(ErrShape, "offset %d in a slice of %d", x.offset, m.count)
	}
	r, err := rangeOf(x.shape, x.strides)
	if err != nil || x.fits(r, m) {
		return r, err
	}
	return elementRange{}, failf(ErrShape, "shape %v, strides %v, offset %d do not fit a slice of %d",
		slices.Clone(x.shape), slices.Clone(x.strides), x.offset, m.count)
}

// fits reports whether the elements are in the slice. Without strides, they must extend to its end,
// except for an unused part of the last byte of packed elements.
func (x *export) fits(r elementRange, m *memory) bool {
	offset, room := uint64(x.offset), uint64(m.count-x.offset)
	switch {
	case r.empty:
		return x.strides != nil || room == 0
	case x.strides == nil:
		taken, _ := bytesOf(min(r.after, room)+1, m.bits)
		there, _ := bytesOf(room, m.bits)
		return r.after < room && taken == there
	default:
		return r.before <= offset && r.after < room
	}
}
