package gobind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// exportsNarrow exports the maximum number of elements, and reads them back.
func exportsNarrow[T dlpack.Narrow](t *testing.T) {
	bits := int(dlpack.DataTypeOf[T]().Bits)
	for count := range 35 {
		for _, flags := range []dlpack.Flags{0, dlpack.FlagIsSubbyteTypePadded} {
			step := bits
			if flags != 0 {
				step = 8
			}
			data := make([]byte, (count*step+7)/8)
			fillRandom(data, uint64(count))
			o := dlpack.ExportOptions{Shape: []int64{int64(count)}, Flags: flags}
			p, err := dlpack.ExportPackedWith[T](data, o)
			tensor := imported(t, p, err)
			require.Equal(t, dlpack.DataTypeOf[T](), tensor.DataType())
			packed, err := dlpack.PackedData[T](tensor)
			require.NoError(t, err)
			require.Equal(t, count, packed.Len())
			for i, got := range packed.All() {
				require.Equal(t, element(data, i*step, 1), got.Bits()&1, "%d of %d", i, count)
			}
			if count > 0 {
				require.Equal(t, &data[0], &packed.Bytes()[0], "no copy")
			}
		}
	}
}

func TestPackedElementsAreExported(t *testing.T) {
	t.Run("int4", exportsNarrow[dlpack.Int4])
	t.Run("uint4", exportsNarrow[dlpack.Uint4])
	t.Run("float4", exportsNarrow[dlpack.Float4E2M1FN])
	t.Run("float6 e2m3", exportsNarrow[dlpack.Float6E2M3FN])
	t.Run("float6 e3m2", exportsNarrow[dlpack.Float6E3M2FN])
}

func TestPackedElementsWithoutAShapeFillTheSlice(t *testing.T) {
	for size, count := range []int64{0, 1, 2, 4, 5, 6, 8} {
		p, err := dlpack.ExportPacked[dlpack.Float6E3M2FN](make([]byte, size))
		assert.Equal(t, []int64{count}, imported(t, p, err).Shape(), "%d bytes", size)
	}
}

func TestPackedElementsFromAnOffset(t *testing.T) {
	data := []byte{0x10, 0x32, 0x54, 0x76}
	o := dlpack.ExportOptions{Shape: []int64{3}, Offset: 4}
	p, err := dlpack.ExportPackedWith[dlpack.Uint4](data, o)
	packed, err := dlpack.PackedData[dlpack.Uint4](imported(t, p, err))
	require.NoError(t, err)
	for i, v := range packed.All() {
		assert.Equal(t, uint8(4+i), v.Bits())
	}
	o = dlpack.ExportOptions{Shape: []int64{2, 2}, Strides: []int64{1, -2}, Offset: 2}
	p, err = dlpack.ExportPackedWith[dlpack.Uint4](data, o)
	got, err := dlpack.At[dlpack.Uint4](imported(t, p, err), 1, 1)
	require.NoError(t, err)
	assert.Equal(t, uint8(1), got.Bits(), "2 + 1 - 2")
}

func TestPackedExportRejectsWhatLeavesTheSlice(t *testing.T) {
	tests := map[string]dlpack.ExportOptions{
		"a byte more":             {Shape: []int64{7}},
		"a byte less":             {Shape: []int64{4}},
		"inside of a byte":        {Shape: []int64{5}, Offset: 1},
		"before the slice":        {Shape: []int64{8}, Offset: -2},
		"offset after it":         {Offset: 8},
		"strides past the end":    {Shape: []int64{4}, Strides: []int64{2}},
		"padded, and too many":    {Shape: []int64{6}, Flags: dlpack.FlagIsSubbyteTypePadded},
		"padded, and too few":     {Shape: []int64{2}, Flags: dlpack.FlagIsSubbyteTypePadded},
		"none of many":            {Shape: []int64{0}},
		"a product of many words": {Shape: []int64{1 << 62, 1 << 62}},
	}
	before := dlpack.Drain()
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dlpack.ExportPackedWith[dlpack.Int4](make([]byte, 3), o)
			require.ErrorIs(t, err, dlpack.ErrShape)
		})
	}
	_, err := dlpack.ExportPackedWith[dlpack.Int4](nil,
		dlpack.ExportOptions{Device: dlpack.Device{Type: dlpack.DeviceCUDA}})
	require.ErrorIs(t, err, dlpack.ErrDevice)
	assert.Equal(t, before, dlpack.Drain(), "a failed export retains nothing")
}
