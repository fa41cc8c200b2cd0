package gobind

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// spoiled imports a foreign tensor that a test has changed.
func spoiled(t *testing.T, spoil func(Foreign)) dlpack.Tensor {
	t.Helper()
	f := foreign(t)
	spoil(f)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	t.Cleanup(m.Release)
	return m.Tensor()
}

type rejection struct {
	spoil func(Foreign)
	want  error
}

// unreadable are tensors whose elements cannot be read as float32.
func unreadable() map[string]rejection {
	return map[string]rejection{
		"another type": {func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeInt32 },
			dlpack.ErrDataType},
		"another width": {func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeFloat64 },
			dlpack.ErrDataType},
		"several lanes":   {func(f Foreign) { f.Versioned().DLTensor.DType.Lanes = 4 }, dlpack.ErrDataType},
		"an unknown code": {func(f Foreign) { f.Versioned().DLTensor.DType.Code = 200 }, dlpack.ErrDataType},
		"a device": {func(f Foreign) { f.Versioned().DLTensor.Device.Type = dlpack.DeviceCUDA },
			dlpack.ErrDevice},
		"an opaque device": {func(f Foreign) { f.Versioned().DLTensor.Device.Type = dlpack.DeviceMetal },
			dlpack.ErrDevice},
		"an unknown device":   {func(f Foreign) { f.Versioned().DLTensor.Device.Type = 999 }, dlpack.ErrDevice},
		"address not aligned": {func(f Foreign) { f.Versioned().DLTensor.ByteOffset = 1 }, dlpack.ErrData},
	}
}

func TestAtFindsEveryElement(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		g := gridOf(randomCode(random))
		tensor := g.tensor(t)
		g.each(func(indices []int64, place int32) {
			got, err := dlpack.At[int32](tensor, indices...)
			require.NoError(t, err)
			require.Equal(t, place, got, "%v of %+v", indices, g)
		})
	}
}

func TestSetAtWritesThatElementAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		g := gridOf(randomCode(random))
		data, want := make([]int16, g.room()), make([]int16, g.room())
		p, err := dlpack.ExportWith(data,
			dlpack.ExportOptions{Shape: append([]int64{}, g.shape...), Strides: append([]int64{}, g.strides...),
				Offset: int(g.before)})
		tensor := imported(t, p, err)
		n := int16(0)
		g.each(func(indices []int64, place int32) {
			n++
			want[place] = n
			require.NoError(t, dlpack.SetAt(tensor, n, indices...))
		})
		require.Equal(t, want, data, "%+v", g)
	}
}

func TestAtRejectsWhatIsNotThere(t *testing.T) {
	tensor := spoiled(t, func(Foreign) {})
	for name, test := range map[string]struct {
		indices []int64
		text    string
	}{
		"too few":     {[]int64{1}, "dlpack: index out of range: 1 indices for 2 dimensions"},
		"too many":    {[]int64{1, 1, 0}, "dlpack: index out of range: 3 indices for 2 dimensions"},
		"past an end": {[]int64{1, 3}, "dlpack: index out of range: indices [1 3] in shape [2 3]"},
		"negative":    {[]int64{-1, 0}, "dlpack: index out of range: indices [-1 0] in shape [2 3]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dlpack.At[float32](tensor, test.indices...)
			require.EqualError(t, err, test.text)
			require.ErrorIs(t, err, dlpack.ErrIndex)
			require.EqualError(t, dlpack.SetAt[float32](tensor, 1, test.indices...), test.text)
		})
	}
	for name, test := range unreadable() {
		t.Run(name, func(t *testing.T) {
			tensor := spoiled(t, test.spoil)
			_, err := dlpack.At[float32](tensor, 1, 2)
			require.ErrorIs(t, err, test.want)
			require.ErrorIs(t, dlpack.SetAt[float32](tensor, 1, 1, 2), test.want)
		})
	}
	readOnly := spoiled(t, func(f Foreign) { f.Versioned().Flags = dlpack.FlagReadOnly })
	require.ErrorIs(t, dlpack.SetAt[float32](readOnly, 1, 0, 0), dlpack.ErrReadOnly)
	_, err := dlpack.At[float32](readOnly, 0, 0)
	require.NoError(t, err)
}

func TestTheZeroTensorIsReleased(t *testing.T) {
	var none dlpack.Tensor
	_, err := dlpack.Data[float32](none)
	require.ErrorIs(t, err, dlpack.ErrReleased)
	_, err = dlpack.Runs[float32](none)
	require.ErrorIs(t, err, dlpack.ErrReleased)
	_, err = dlpack.At[float32](none)
	require.ErrorIs(t, err, dlpack.ErrReleased)
	require.ErrorIs(t, dlpack.SetAt[dlpack.Int4](none, dlpack.Int4{}), dlpack.ErrReleased)
	_, err = dlpack.PackedData[dlpack.Int4](none)
	require.ErrorIs(t, err, dlpack.ErrReleased)
	assert.Zero(t, none.Len())
	assert.Zero(t, none.NBytes())
}

func TestErrorsHaveAKindAndADetail(t *testing.T) {
	_, err := dlpack.Data[int8](spoiled(t, func(Foreign) {}))
	var detail *dlpack.Error
	require.ErrorAs(t, err, &detail)
	assert.Equal(t, dlpack.ErrDataType, detail.Err)
	assert.Equal(t, "elements are float32, requested int8", detail.Detail)
}

// The types of this package are based on integers, but are not treated as integers.
func TestTypesAreNotTakenForTheIntegerBelow(t *testing.T) {
	for _, dtype := range []dlpack.DataType{dlpack.DTypeUint16, dlpack.DTypeBFloat16, dlpack.DTypeInt16} {
		tensor := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dtype })
		_, err := dlpack.Data[dlpack.Float16](tensor)
		require.ErrorIs(t, err, dlpack.ErrDataType, dtype)
	}
	half := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeFloat16 })
	_, err := dlpack.Data[uint16](half)
	require.ErrorIs(t, err, dlpack.ErrDataType)
	for _, dtype := range []dlpack.DataType{dlpack.DTypeUint8, dlpack.DTypeFloat8E5M2, dlpack.DTypeBool} {
		tensor := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dtype })
		_, err = dlpack.Data[dlpack.Float8E4M3FN](tensor)
		require.ErrorIs(t, err, dlpack.ErrDataType, dtype)
	}
	truth := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeBool })
	_, err = dlpack.Data[uint8](truth)
	require.ErrorIs(t, err, dlpack.ErrDataType)
	for _, err := range []error{readAs[bool](truth), readAs[dlpack.Bool](truth), readAs[dlpack.Float16](half)} {
		require.NoError(t, err)
	}
}

func readAs[T dlpack.Element](t dlpack.Tensor) error {
	_, err := dlpack.Data[T](t)
	return err
}

func TestTypesMadeOfOthers(t *testing.T) {
	type half dlpack.Float16
	type level uint8
	type truth bool
	type count uint
	assert.Equal(t, dlpack.DTypeUint16, dlpack.DataTypeOf[half](), "a float16 no more")
	assert.Equal(t, dlpack.DTypeUint8, dlpack.DataTypeOf[level]())
	assert.Equal(t, dlpack.DTypeBool, dlpack.DataTypeOf[truth]())
	assert.Equal(t, dlpack.DTypeUint64, dlpack.DataTypeOf[count]())
}

func TestOwnTypesCrossAndReturn(t *testing.T) {
	t.Run("bool", exchange[bool](dlpack.DTypeBool))
	t.Run("Bool", exchange[dlpack.Bool](dlpack.DTypeBool))
	t.Run("uintptr", exchange[uintptr](dlpack.DTypeUint64))
	t.Run("Float16", exchange[dlpack.Float16](dlpack.DTypeFloat16))
	t.Run("BFloat16", exchange[dlpack.BFloat16](dlpack.DTypeBFloat16))
	t.Run("Complex32", exchange[dlpack.Complex32](dlpack.DTypeComplex32))
	t.Run("Float8E3M4", exchange[dlpack.Float8E3M4](dlpack.DTypeFloat8E3M4))
	t.Run("Float8E4M3", exchange[dlpack.Float8E4M3](dlpack.DTypeFloat8E4M3))
	t.Run("Float8E4M3B11FNUZ", exchange[dlpack.Float8E4M3B11FNUZ](dlpack.DTypeFloat8E4M3B11FNUZ))
	t.Run("Float8E4M3FN", exchange[dlpack.Float8E4M3FN](dlpack.DTypeFloat8E4M3FN))
	t.Run("Float8E4M3FNUZ", exchange[dlpack.Float8E4M3FNUZ](dlpack.DTypeFloat8E4M3FNUZ))
	t.Run("Float8E5M2", exchange[dlpack.Float8E5M2](dlpack.DTypeFloat8E5M2))
	t.Run("Float8E5M2FNUZ", exchange[dlpack.Float8E5M2FNUZ](dlpack.DTypeFloat8E5M2FNUZ))
	t.Run("Float8E8M0FNU", exchange[dlpack.Float8E8M0FNU](dlpack.DTypeFloat8E8M0FNU))
}

func TestNothingAllocatesOnTheWayToElements(t *testing.T) {
	if sanitized {
		t.Skip("a sanitizer allocates where the plain program does not")
	}
	f := foreign(t)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	tensor := m.Tensor()
	half := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeFloat16 })
	nibbles := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeInt4 })
	sum := float32(0)
	for name, read := range map[string]func(){
		"Data":          func() { v, _ := dlpack.Data[float32](tensor); sum += v[5] },
		"Data[Float16]": func() { v, _ := dlpack.Data[dlpack.Float16](half); sum += v[5].Float32() },
		"WritableData":  func() { v, _ := dlpack.WritableData[float32](tensor); v[5]++ },
		"At":            func() { v, _ := dlpack.At[float32](tensor, 1, 2); sum += v },
		"At[Int4]":      func() { v, _ := dlpack.At[dlpack.Int4](nibbles, 1, 2); sum += float32(v.Int()) },
		"SetAt":         func() { _ = dlpack.SetAt[float32](tensor, 1, 1, 2) },
		"PackedData": func() {
			v,
				_ := dlpack.PackedData[dlpack.Int4](nibbles)
			sum += float32(v.At(5).Int())
		},
		"WritablePackedData": func() {
			v,
				_ := dlpack.WritablePackedData[dlpack.Int4](nibbles)
			v.Set(5, dlpack.Int4{})
		},
		"IsContiguous, Size, Stride": func() {
			sum += float32(tensor.NBytes()) * float32(tensor.Stride(0))
			_ = tensor.IsFContiguous()
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, read), name)
	}
}
