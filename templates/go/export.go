//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"slices"
	"unsafe"
)

// ExportOptions say how a consumer shall see a slice. The zero value is one
// dimension over all of it, writable.
type ExportOptions struct {
	Shape   []int64 // extents; nil for one dimension, empty for a scalar
	Strides []int64 // in elements, zero or negative allowed; nil for row-major
	Offset  int     // index of the element whose indices in the tensor are all 0
	Flags   Flags   // what a consumer must know
}

// Export makes a tensor over the memory of a Go slice, without copying, for a
// consumer in any language. Without a shape it has one dimension; with one, its
// extents must multiply to len(data).
//
// The caller owns the result and hands it to one consumer, who calls its deleter
// once, on any thread, for instance by putting it into a "dltensor_versioned"
// capsule. Until then the slice is pinned and stays alive, even when Go has no
// other pointer to it. The deleter never enters Go; the slice is unpinned by a
// later Export, by the next garbage collection, or by [Drain].
//
// Go aligns the memory of slices to 8 bytes at most, less than some consumers
// prefer. Errors: [ErrShape], [ErrNoMemory].
func Export[T Element](data []T, shape ...int64) (*DLManagedTensorVersioned, error) {
	return ExportWith(data, ExportOptions{Shape: shape})
}

// ExportWith is [Export] with strides, an offset and flags. The shape, with its
// strides, must stay inside of data; without strides it must fill data from the
// offset to the end.
func ExportWith[T Element](data []T, o ExportOptions) (*DLManagedTensorVersioned, error) {
	slot, err := exportSlice(sliceOf(data), o, false)
	if err != nil {
		return nil, err
	}
	return &slot.managed, nil
}

// ExportLegacy is [ExportWith] for consumers that know only the struct without
// flags, "dltensor" in Python. It refuses [FlagReadOnly] with [ErrReadOnly],
// which such a consumer would never learn of.
func ExportLegacy[T Element](data []T, o ExportOptions) (*DLManagedTensor, error) {
	if o.Flags&FlagReadOnly != 0 {
		return nil, failf(ErrReadOnly, "a legacy tensor cannot say so")
	}
	slot, err := exportSlice(sliceOf(data), o, true)
	if err != nil {
		return nil, err
	}
	return slot.legacy(), nil
}

// memory is a slice without its type parameter.
type memory struct {
	first unsafe.Pointer
	count int
	size  uintptr // of one element
	dtype DataType
}

func sliceOf[T Element](data []T) memory {
	return memory{
		first: unsafe.Pointer(unsafe.SliceData(data)),
		count: len(data),
		size:  unsafe.Sizeof(*new(T)),
		dtype: DataTypeOf[T](),
	}
}

func exportSlice(m memory, o ExportOptions, legacy bool) (*slot, error) {
	shape := o.Shape
	if shape == nil {
		shape = []int64{int64(m.count - o.Offset)}
	}
	reach, err := exportReach(shape, m, o)
	if err != nil {
		return nil, err
	}
	first := unsafe.Pointer(nil) // which an empty tensor shall have
	if !reach.empty {
		// The offset goes into the pointer: some consumers forget byte_offset.
		first = unsafe.Add(m.first, uintptr(o.Offset)*m.size)
	}
	return exports.take(export{first, m.dtype, shape, o.Strides, o.Flags, legacy})
}

// exportReach tests that the tensor lies inside of the slice.
func exportReach(shape []int64, m memory, o ExportOptions) (reach, error) {
	if len(shape) > MaxNDim {
		return reach{}, failf(ErrShape, "%d dimensions; %d at most", len(shape), MaxNDim)
	}
	if o.Strides != nil && len(o.Strides) != len(shape) {
		return reach{}, failf(ErrShape, "%d strides for %d dimensions", len(o.Strides), len(shape))
	}
	if o.Offset < 0 || o.Offset > m.count {
		return reach{}, failf(ErrShape, "offset %d in a slice of %d", o.Offset, m.count)
	}
	r, err := reachOf(shape, o.Strides)
	if err != nil || r.fills(m.count, o) {
		return r, err
	}
	return reach{}, failf(ErrShape, "shape %v, strides %v, offset %d do not suit a slice of %d",
		slices.Clone(shape), slices.Clone(o.Strides), o.Offset, m.count)
}

// fills tells whether the elements lie in a slice; where the strides are not
// given, up to its end.
func (r reach) fills(count int, o ExportOptions) bool {
	offset, room := uint64(o.Offset), uint64(count-o.Offset)
	switch {
	case r.empty:
		return o.Strides != nil || room == 0
	case o.Strides == nil:
		return r.after == room-1 && room != 0
	default:
		return r.before <= offset && r.after < room
	}
}
