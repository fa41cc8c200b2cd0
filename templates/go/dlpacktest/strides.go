//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"math"
	"testing"

	dlpack "dlpackgen.invalid/dlpack"
)

// layouts are tensors over the numbers 0 to 11. [elementsOf] also computes the elements of each
// from its strides, one by one.
var layouts = map[string]struct {
	options     dlpack.ExportOptions
	contiguous  bool
	columnMajor bool
}{
	"RowMajor":      {dlpack.ExportOptions{Shape: []int64{3, 4}, Strides: []int64{4, 1}}, true, false},
	"ColumnMajor":   {dlpack.ExportOptions{Shape: []int64{3, 4}, Strides: []int64{1, 3}}, false, true},
	"Line":          {dlpack.ExportOptions{Shape: []int64{12}}, true, true},
	"Scalar":        {dlpack.ExportOptions{Shape: []int64{}, Offset: 11}, true, true},
	"EverySecond":   {dlpack.ExportOptions{Shape: []int64{2, 3}, Strides: []int64{6, 2}}, false, false},
	"RowsApart":     {dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{4, 1}, Offset: 1}, false, false},
	"Backwards":     {dlpack.ExportOptions{Shape: []int64{12}, Strides: []int64{-1}, Offset: 11}, false, false},
	"RowsBackwards": {dlpack.ExportOptions{Shape: []int64{3, 4}, Strides: []int64{-4, 1}, Offset: 8}, false, false},
	"Repeated":      {dlpack.ExportOptions{Shape: []int64{5, 3}, Strides: []int64{0, 1}, Offset: 2}, false, false},
	"Overlapping":   {dlpack.ExportOptions{Shape: []int64{4, 4}, Strides: []int64{1, 1}}, false, false},
	"SingleDimensions": {dlpack.ExportOptions{Shape: []int64{1, 3, 1, 4},
		Strides: []int64{math.MinInt64, 4, math.MaxInt64, 1}}, true, false},
	"FourDimensions": {dlpack.ExportOptions{Shape: []int64{2, 1, 3, 2}, Strides: []int64{1, 7, 4, 2}}, false, false},
	"Empty": {dlpack.ExportOptions{Shape: []int64{3, 0}, Strides: []int64{math.MinInt64, math.MaxInt64}},
		true, true},
}

// testStrides reads the same elements with each function.
func testStrides(t *testing.T) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			d := imported(t, must[exported](t)(dlpack.ExportWith(twelve(), layout.options)))
			equal(t, "row-major", d.IsContiguous(), layout.contiguous)
			equal(t, "column-major", d.IsFContiguous(), layout.columnMajor)
			readsAs(t, d, elementsOf(layout.options))
		})
	}
	t.Run("Absent", testNoStrides)
	t.Run("ByteOffset", testByteOffset)
}

func twelve() []int32 {
	data := make([]int32, 12)
	for i := range data {
		data[i] = int32(i)
	}
	return data
}

// elementsOf returns the elements of a tensor over 0, 1, 2, ... by the definition
// of strides.
func elementsOf(o dlpack.ExportOptions) []int32 {
	elements := []int32{int32(o.Offset)}
	for i := len(o.Shape) - 1; i >= 0; i-- {
		stride := int64(1)
		if o.Strides != nil {
			stride = o.Strides[i]
		}
		var outer []int32
		for index := range o.Shape[i] {
			for _, element := range elements {
				outer = append(outer, element+int32(index*stride))
			}
		}
		elements = outer
	}
	return elements
}

// readsAs expects the same elements from each function that reads.
func readsAs(t *testing.T, d dlpack.Tensor, want []int32) {
	t.Helper()
	var byRuns, byIndex []int32
	for run := range must[seq](t)(dlpack.Runs[int32](d)) {
		byRuns = append(byRuns, run...)
	}
	equalSlices(t, "elements by Runs", byRuns, want)
	indices := make([]int64, d.NDim())
	for range d.Len() {
		byIndex = append(byIndex, must[int32](t)(dlpack.At[int32](d, indices...)))
		next(indices, d.Shape())
	}
	equalSlices(t, "elements by At", byIndex, want)
	contiguous, err := dlpack.Data[int32](d)
	if !d.IsContiguous() {
		rejected(t, "Data", err, dlpack.ErrNotContiguous)
		return
	}
	equalSlices(t, "elements by Data", must[[]int32](t)(contiguous, err), want)
}

type seq = func(yield func([]int32) bool)

// next counts indices up in row-major order.
func next(indices, shape []int64) {
	for i := len(indices) - 1; i >= 0; i-- {
		if indices[i]++; indices[i] < shape[i] {
			return
		}
		indices[i] = 0
	}
}

// testNoStrides accepts NULL strides from producers before DLPack 1.2, and from legacy producers,
// which declare no version.
func testNoStrides(t *testing.T) {
	for minor, legal := range []bool{true, true, false, false} {
		s := newForeign(t)
		s.reshape([]int64{2, 3}, nil)
		s.versioned().Version.Minor = uint32(minor)
		m, err := dlpack.Import(s.versioned())
		if !legal {
			rejected(t, "NULL strides of 1.2 or newer", err, dlpack.ErrShape)
			continue
		}
		equal(t, "row-major", must[managed](t)(m, err).Tensor().IsContiguous(), true)
		m.Release()
	}
	s := newForeign(t)
	s.reshape([]int64{2, 3}, nil)
	m := must[managed](t)(dlpack.ImportLegacy(s.legacy()))
	defer m.Release()
	equal(t, "strides", m.Tensor().Strides() == nil, true)
	equal(t, "stride of the rows", m.Tensor().Stride(0), 3)
}

func testByteOffset(t *testing.T) {
	s := newForeign(t)
	s.bytes()[8] = 77
	s.reshape([]int64{1}, []int64{1})
	s.both(func(d *dlpack.DLTensor) {
		d.DType = dlpack.DataTypeOf[uint8]()
		d.ByteOffset = 8
	})
	d := imported(t, s.versioned())
	equal(t, "address", d.Addr(), s.addr()+8)
	equalSlices(t, "elements", must[[]uint8](t)(dlpack.Data[uint8](d)), []uint8{77})
}
