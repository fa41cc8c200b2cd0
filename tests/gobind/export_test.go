package gobind

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// imported imports an export, so that its fields can be inspected.
func imported(t *testing.T, p *dlpack.DLManagedTensorVersioned, err error) dlpack.Tensor {
	t.Helper()
	require.NoError(t, err)
	m, err := dlpack.Import(p)
	require.NoError(t, err)
	t.Cleanup(m.Release)
	return m.Tensor()
}

func TestExportFillsEveryField(t *testing.T) {
	data := []float64{1, 2, 3, 4, 5, 6}
	p, err := dlpack.Export(data, 3, 2)
	tensor := imported(t, p, err)
	assert.Equal(t, dlpack.Version{Major: 1, Minor: 3}, p.Version)
	assert.Zero(t, p.ManagerCtx)
	assert.NotZero(t, p.Deleter)
	assert.Zero(t, p.Flags)
	assert.Zero(t, p.DLTensor.ByteOffset)
	assert.Equal(t, uintptr(unsafe.Pointer(&data[0])), tensor.Addr())
	assert.Equal(t, dlpack.Device{Type: dlpack.DeviceCPU}, tensor.Device())
	assert.Equal(t, []int64{3, 2}, tensor.Shape())
	assert.Equal(t, []int64{2, 1}, tensor.Strides())
}

func TestExportForms(t *testing.T) {
	nine := make([]int32, 9)
	deep := make([]int64, dlpack.MaxNDim)
	for i := range deep {
		deep[i] = 1
	}
	tests := map[string]struct {
		options        dlpack.ExportOptions
		shape, strides []int64
		first          int // index in nine
	}{
		"no options": {dlpack.ExportOptions{}, []int64{9}, []int64{1}, 0},
		"an offset":  {dlpack.ExportOptions{Offset: 2}, []int64{7}, []int64{1}, 2},
		"a scalar":   {dlpack.ExportOptions{Shape: []int64{}, Offset: 8}, []int64{}, nil, 8},
		"strides": {dlpack.ExportOptions{Shape: []int64{2, 2}, Strides: []int64{5, 3}}, []int64{2, 2},
			[]int64{5, 3}, 0},
		"transposed": {dlpack.ExportOptions{Shape: []int64{3, 3}, Strides: []int64{1, 3}}, []int64{3, 3},
			[]int64{1, 3}, 0},
		"backwards": {dlpack.ExportOptions{Shape: []int64{9}, Strides: []int64{-1}, Offset: 8}, []int64{9},
			[]int64{-1}, 8},
		"there and back": {dlpack.ExportOptions{Shape: []int64{3, 3}, Strides: []int64{-3, 1}, Offset: 6},
			[]int64{3, 3}, []int64{-3, 1}, 6},
		"broadcast": {dlpack.ExportOptions{Shape: []int64{1000, 9}, Strides: []int64{0, 1}},
			[]int64{1000, 9}, []int64{0, 1}, 0},
		"exactly 8 dims": {dlpack.ExportOptions{Shape: []int64{1, 1, 1, 1, 1, 1, 3, 3}},
			[]int64{1, 1, 1, 1, 1, 1, 3, 3}, []int64{9, 9, 9, 9, 9, 9, 3, 1}, 0},
		"9 dims": {dlpack.ExportOptions{Shape: []int64{1, 1, 1, 1, 1, 1, 1, 3, 3}},
			[]int64{1, 1, 1, 1, 1, 1, 1, 3, 3}, []int64{9, 9, 9, 9, 9, 9, 9, 3, 1}, 0},
		"as many as allowed": {dlpack.ExportOptions{Shape: deep, Offset: 8}, deep, deep, 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := dlpack.ExportWith(nine, test.options)
			tensor := imported(t, p, err)
			assert.Equal(t, uintptr(unsafe.Pointer(&nine[test.first])), tensor.Addr())
			assert.Equal(t, test.shape, tensor.Shape())
			assert.Equal(t, test.strides, tensor.Strides())
		})
	}
}

func TestEmptyExportsHaveNoData(t *testing.T) {
	for name, o := range map[string]dlpack.ExportOptions{
		"nothing":      {},
		"a shape":      {Shape: []int64{4, 0}},
		"with strides": {Shape: []int64{0, 4}, Strides: []int64{math.MaxInt64, math.MinInt64}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := dlpack.ExportWith([]uint8{}, o)
			tensor := imported(t, p, err)
			assert.Zero(t, tensor.Addr())
			assert.Zero(t, tensor.Len())
			assert.NotNil(t, tensor.Strides(), "DLPack 1.2 requires them")
		})
	}
	p, err := dlpack.Export[uint8](nil)
	assert.Equal(t, []int64{0}, imported(t, p, err).Shape())
}

func TestExportRejectsWhatLeavesTheSlice(t *testing.T) {
	tests := map[string]dlpack.ExportOptions{
		"too few elements":         {Shape: []int64{2, 2}},
		"too many":                 {Shape: []int64{7}},
		"a scalar of many":         {Shape: []int64{}},
		"none of many":             {Shape: []int64{0}},
		"negative extent":          {Shape: []int64{-6}},
		"product over 64 bits":     {Shape: []int64{math.MaxInt64, math.MaxInt64}},
		"offset before the slice":  {Offset: -1},
		"offset after it":          {Offset: 7},
		"offset and whole shape":   {Shape: []int64{6}, Offset: 1},
		"strides past the end":     {Shape: []int64{4}, Strides: []int64{2}},
		"strides before the start": {Shape: []int64{3}, Strides: []int64{-1}, Offset: 1},
		"strides over 64 bits":     {Shape: []int64{3}, Strides: []int64{math.MaxInt64}},
		"fewer strides":            {Shape: []int64{2, 3}, Strides: []int64{1}},
		"strides without a shape":  {Strides: []int64{}},
		"too many dimensions":      {Shape: make([]int64, dlpack.MaxNDim+1)},
	}
	before := dlpack.Drain()
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dlpack.ExportWith(make([]int16, 6), o)
			require.ErrorIs(t, err, dlpack.ErrShape)
			_, err = dlpack.ExportLegacy(make([]int16, 6), o)
			require.ErrorIs(t, err, dlpack.ErrShape)
		})
	}
	assert.Equal(t, before, dlpack.Drain(), "a failed export retains nothing")
}

func TestExportFlags(t *testing.T) {
	o := dlpack.ExportOptions{Flags: dlpack.FlagReadOnly | dlpack.FlagIsCopied}
	p, err := dlpack.ExportWith([]int8{1}, o)
	tensor := imported(t, p, err)
	assert.Equal(t, o.Flags, tensor.Flags())
	assert.True(t, tensor.IsReadOnly())
	_, err = dlpack.ExportLegacy([]int8{1}, o)
	require.ErrorIs(t, err, dlpack.ErrReadOnly)
}

func TestExportLegacy(t *testing.T) {
	data := []complex64{1, 2, 3, 4}
	before := dlpack.Drain()
	p, err := dlpack.ExportLegacy(data, dlpack.ExportOptions{Shape: []int64{2, 2}, Flags: dlpack.FlagIsCopied})
	require.NoError(t, err)
	m, err := dlpack.ImportLegacy(p)
	require.NoError(t, err)
	got, err := dlpack.WritableData[complex64](m.WritableTensor())
	require.NoError(t, err)
	assert.Same(t, &data[0], &got[0])
	assert.Equal(t, []int64{2, 1}, m.Tensor().Strides())
	assert.Equal(t, before+1, dlpack.Drain())
	m.Release()
	assert.Equal(t, before, dlpack.Drain())
}
