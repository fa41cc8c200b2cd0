//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"iter"
	"unsafe"
)

// Runs returns the elements of a tensor with any strides, in row-major order and without copying,
// as slices of adjacent elements. Each slice is as long as the strides allow. A contiguous tensor
// is one run. If the innermost stride is not 1, each run has one element.
//
// The slices are valid until the tensor's owner releases it, and must not be written: see
// [WritableRuns]. The sequence can be used several times. It needs an allocation, and is slower
// than [Data] for contiguous tensors.
//
// The errors are those of [Data] except [ErrNotContiguous].
func Runs[T Element](t Tensor) (iter.Seq[[]T], error) {
	readable, err := as[T](t)
	return func(yield func([]T) bool) { runs(readable, yield) }, err
}

// WritableRuns is [Runs] for writing. It fails with [ErrReadOnly] if the tensor is read-only. If a
// stride is 0, several runs are the same memory.
func WritableRuns[T Element](t Tensor) (iter.Seq[[]T], error) {
	if t.IsReadOnly() {
		return func(func([]T) bool) {}, readOnly()
	}
	return Runs[T](t)
}

func runs[T Element](t Tensor, yield func([]T) bool) {
	if t.Len() == 0 {
		return
	}
	var w walk
	first := t.first()
	w.plan(t.Shape(), t.Strides())
	for more := true; more; more = w.carry() {
		for i := range w.extent[0] {
			// No pointer is created before its run is visited: a pointer outside of the data could
			// be invalid for the garbage collector.
			offset := (w.offset + i*w.stride[0]) * int64(unsafe.Sizeof(*new(T)))
			if !yield(unsafe.Slice((*T)(unsafe.Add(first, offset)), w.run)) {
				return
			}
		}
	}
}

// walk visits the runs of a tensor in row-major order. Its dimensions are those between the runs,
// innermost first. Neighbouring dimensions are merged if a single stride covers both.
type walk struct {
	run    int64 // elements
	ndim   int
	offset int64 // in elements
	extent [MaxNDim + 1]int64
	stride [MaxNDim + 1]int64
	index  [MaxNDim + 1]int64
}

// plan begins a walk over a non-empty tensor.
func (w *walk) plan(shape, strides []int64) {
	w.run, w.extent[0] = 1, 1
	next := int64(1) // the stride of a dimension that continues the last one
	for i := len(shape) - 1; i >= 0; i-- {
		extent, stride := shape[i], next
		if strides != nil {
			stride = strides[i]
		}
		switch {
		case extent == 1:
			continue
		case stride != next:
			w.extent[w.ndim], w.stride[w.ndim] = extent, stride
			w.ndim++
		case w.ndim == 0:
			w.run *= extent
		default:
			w.extent[w.ndim-1] *= extent
		}
		next = stride * extent
	}
}

// carry advances to the next row of runs, if there is one.
func (w *walk) carry() bool {
	for d := 1; d < w.ndim; d++ {
		w.index[d]++
		w.offset += w.stride[d]
		if w.index[d] < w.extent[d] {
			return true
		}
		w.index[d] = 0
		w.offset -= w.stride[d] * w.extent[d]
	}
	return false
}
