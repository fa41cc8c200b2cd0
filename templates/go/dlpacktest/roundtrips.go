//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"math"
	"testing"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// testRoundTrips exports slices of each type and imports them again.
func testRoundTrips(t *testing.T) {
	t.Run("int8", roundTrip[int8](dlpack.CodeInt, -128, 0, 127))
	t.Run("int16", roundTrip[int16](dlpack.CodeInt, math.MinInt16, 0, math.MaxInt16))
	t.Run("int32", roundTrip[int32](dlpack.CodeInt, math.MinInt32, 0, math.MaxInt32))
	t.Run("int64", roundTrip[int64](dlpack.CodeInt, math.MinInt64, 0, math.MaxInt64))
	t.Run("uint8", roundTrip[uint8](dlpack.CodeUint, 0, 1, 255))
	t.Run("uint16", roundTrip[uint16](dlpack.CodeUint, 0, 1, math.MaxUint16))
	t.Run("uint32", roundTrip[uint32](dlpack.CodeUint, 0, 1, math.MaxUint32))
	t.Run("uint64", roundTrip[uint64](dlpack.CodeUint, 0, 1, math.MaxUint64))
	t.Run("float32", roundTrip[float32](dlpack.CodeFloat, -1.5, 0, math.MaxFloat32))
	t.Run("float64", roundTrip(dlpack.CodeFloat, -1.5, 0, math.Inf(1)))
	t.Run("complex64", roundTrip[complex64](dlpack.CodeComplex, 1-2i, 0, 3i))
	t.Run("complex128", roundTrip(dlpack.CodeComplex, 1-2i, 0, 3i))
	t.Run("bool", roundTrip(dlpack.CodeBool, true, false, true))
	t.Run("Empty", testEmpty)
	t.Run("Dimensions", testDimensions)
}

func roundTrip[T interface {
	dlpack.Element
	comparable
}](code dlpack.DataTypeCode, values ...T) func(*testing.T) {
	return func(t *testing.T) {
		noLeak(t)
		want := dlpack.DataType{Code: code, Bits: uint8(8 * unsafe.Sizeof(values[0])), Lanes: 1}
		equal(t, "data type of Go", dlpack.DataTypeOf[T](), want)
		versioned := imported(t, must[exported](t)(dlpack.Export(values, 1, int64(len(values)))))
		sameMemory(t, "versioned", versioned, want, values)
		legacy := must[managed](t)(dlpack.ImportLegacy(must[exportedLegacy](t)(dlpack.ExportLegacy(values,
			dlpack.ExportOptions{}))))
		t.Cleanup(legacy.Release)
		_, err := dlpack.WritableData[T](legacy.Tensor())
		rejected(t, "WritableData of a tensor without flags", err, dlpack.ErrReadOnly)
		sameMemory(t, "legacy", legacy.WritableTensor(), want, values)
	}
}

// sameMemory expects the tensor to be the slice itself, not a copy.
func sameMemory[T interface {
	dlpack.Element
	comparable
}](t *testing.T, what string, d dlpack.Tensor, dtype dlpack.DataType, values []T) {
	t.Helper()
	equal(t, what+" data type", d.DataType(), dtype)
	equal(t, what+" address", d.Addr(), uintptr(unsafe.Pointer(&values[0])))
	got := must[[]T](t)(dlpack.WritableData[T](d))
	equalSlices(t, what+" elements", got, values)
	got[0], got[1] = got[1], got[0]
	equalSlices(t, what+" elements, two of them swapped", got, values)
}

// testEmpty expects a tensor without elements to have no address.
func testEmpty(t *testing.T) {
	noLeak(t)
	for _, shape := range [][]int64{{0}, {3, 0}, {0, math.MaxInt64, 4}} {
		d := imported(t, must[exported](t)(dlpack.Export([]float64{}, shape...)))
		equalSlices(t, "shape", d.Shape(), shape)
		equal(t, "elements", d.Len(), 0)
		equal(t, "address", d.Addr(), 0)
		equal(t, "has strides", d.Strides() != nil, true)
		equal(t, "slice", len(must[[]float64](t)(dlpack.Data[float64](d))), 0)
	}
}

// testDimensions tests ranks from a scalar to the maximum, including the rank from which shapes are
// stored separately.
func testDimensions(t *testing.T) {
	noLeak(t)
	data := []int32{1, 2, 3, 4, 5, 6}
	for ndim := range dlpack.MaxNDim + 1 {
		shape := make([]int64, ndim)
		for i := range shape {
			shape[i] = 1
		}
		values := data[:1]
		if ndim >= 2 {
			shape[0], shape[ndim-1], values = 2, 3, data
		}
		d := imported(t, must[exported](t)(dlpack.ExportWith(values, dlpack.ExportOptions{Shape: shape})))
		equalSlices(t, "shape", d.Shape(), shape)
		equal(t, "elements side by side", d.IsContiguous(), true)
		equalSlices(t, "elements", must[[]int32](t)(dlpack.Data[int32](d)), values)
	}
}
