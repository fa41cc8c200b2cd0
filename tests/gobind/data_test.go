package gobind

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

type celsius float32

// exchange exports and imports a slice, and expects the same memory and type.
func exchange[T dlpack.Element](want dlpack.DataType) func(*testing.T) {
	return func(t *testing.T) {
		data := make([]T, 6)
		p, err := dlpack.Export(data, 2, 3)
		require.NoError(t, err)
		m, err := dlpack.Import(p)
		require.NoError(t, err)
		defer m.Release()
		assert.Equal(t, want, m.Tensor().DataType())
		assert.Equal(t, want, dlpack.DataTypeOf[T]())
		got, err := dlpack.WritableData[T](m.Tensor())
		require.NoError(t, err)
		require.Len(t, got, 6)
		assert.Same(t, &data[0], &got[0])
	}
}

func TestEveryElementTypeCrossesAndReturns(t *testing.T) {
	t.Run("int8", exchange[int8](dlpack.DTypeInt8))
	t.Run("int16", exchange[int16](dlpack.DTypeInt16))
	t.Run("int32", exchange[int32](dlpack.DTypeInt32))
	t.Run("int64", exchange[int64](dlpack.DTypeInt64))
	t.Run("int", exchange[int](dlpack.DTypeInt64))
	t.Run("uint8", exchange[uint8](dlpack.DTypeUint8))
	t.Run("uint16", exchange[uint16](dlpack.DTypeUint16))
	t.Run("uint32", exchange[uint32](dlpack.DTypeUint32))
	t.Run("uint64", exchange[uint64](dlpack.DTypeUint64))
	t.Run("uint", exchange[uint](dlpack.DTypeUint64))
	t.Run("float32", exchange[float32](dlpack.DTypeFloat32))
	t.Run("float64", exchange[float64](dlpack.DTypeFloat64))
	t.Run("complex64", exchange[complex64](dlpack.DTypeComplex64))
	t.Run("complex128", exchange[complex128](dlpack.DTypeComplex128))
	t.Run("a type with a name", exchange[celsius](dlpack.DTypeFloat32))
}

func TestDataRejectsWhatIsNoSliceOfThatType(t *testing.T) {
	tests := map[string]struct {
		spoil func(Foreign)
		want  error
	}{
		"another type": {func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeInt32 },
			dlpack.ErrDataType},
		"another width": {func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeFloat64 },
			dlpack.ErrDataType},
		"several lanes": {func(f Foreign) { f.Versioned().DLTensor.DType.Lanes = 4 }, dlpack.ErrDataType},
		"a device": {func(f Foreign) { f.Versioned().DLTensor.Device.Type = dlpack.DeviceCUDA },
			dlpack.ErrDevice},
		"an opaque device": {func(f Foreign) { f.Versioned().DLTensor.Device.Type = dlpack.DeviceMetal },
			dlpack.ErrDevice},
		"an unknown device":  {func(f Foreign) { f.Versioned().DLTensor.Device.Type = 999 }, dlpack.ErrDevice},
		"column-major order": {func(f Foreign) { f.Reshape([]int64{2, 3}, []int64{1, 2}) }, dlpack.ErrNotContiguous},
		"broadcast":          {func(f Foreign) { f.Reshape([]int64{2, 3}, []int64{0, 1}) }, dlpack.ErrNotContiguous},
		"backwards": {func(f Foreign) {
			f.Reshape([]int64{6},
				[]int64{-1})
			f.Versioned().DLTensor.ByteOffset = 20
		}, dlpack.ErrNotContiguous},
		"address not aligned": {func(f Foreign) { f.Versioned().DLTensor.ByteOffset = 1 }, dlpack.ErrData},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := foreign(t)
			test.spoil(f)
			m, err := dlpack.Import(f.Versioned())
			require.NoError(t, err)
			defer m.Release()
			_, err = dlpack.Data[float32](m.Tensor())
			require.ErrorIs(t, err, test.want)
			_, err = dlpack.WritableData[float32](m.Tensor())
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestReadOnlyDataIsReadButNotWritten(t *testing.T) {
	f := foreign(t)
	f.Versioned().Flags = dlpack.FlagReadOnly
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	assert.True(t, m.Tensor().IsReadOnly())
	_, err = dlpack.Data[float32](m.Tensor())
	require.NoError(t, err)
	_, err = dlpack.WritableData[float32](m.Tensor())
	require.EqualError(t, err,
		"dlpack: tensor is read-only: the producer forbids writing, or cannot declare the tensor writable: see WritableTensor")
}

func TestEmptyTensorsHaveEmptyData(t *testing.T) {
	f := foreign(t)
	f.Reshape([]int64{2, 0, 3}, []int64{9, 9, 9})
	f.Versioned().DLTensor.Data = 0
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	values, err := dlpack.Data[float32](m.Tensor())
	require.NoError(t, err)
	assert.NotNil(t, values)
	assert.Empty(t, values)
}

func TestHandlesAreNotAddresses(t *testing.T) {
	f := foreign(t)
	f.Versioned().DLTensor.ByteOffset = 8
	for device, addr := range map[dlpack.DeviceType]uintptr{
		dlpack.DeviceCPU:    f.Addr() + 8,
		dlpack.DeviceCUDA:   f.Addr() + 8,
		dlpack.DeviceMetal:  f.Addr(),
		dlpack.DeviceOpenCL: f.Addr(),
		777:                 f.Addr(),
	} {
		f.Versioned().DLTensor.Device.Type = device
		m, err := dlpack.Import(f.Versioned())
		require.NoError(t, err)
		assert.Equal(t, addr, m.Tensor().Addr(), device)
		m.Release()
	}
}

func TestNames(t *testing.T) {
	type text interface{ String() string }
	for want, value := range map[string]text{
		"CPU":               dlpack.DeviceCPU,
		"CUDA:1":            dlpack.Device{Type: dlpack.DeviceCUDA, ID: 1},
		"DeviceType(5)":     dlpack.DeviceType(5),
		"DeviceType(-1)":    dlpack.DeviceType(-1),
		"Bfloat":            dlpack.CodeBFloat,
		"DataTypeCode(255)": dlpack.DataTypeCode(255),
		"float32":           dlpack.DTypeFloat32,
		"float8_e4m3fn":     dlpack.DTypeFloat8E4M3FN,
		"bool":              dlpack.DTypeBool,
		"float32x4":         dlpack.DataType{Code: dlpack.CodeFloat, Bits: 32, Lanes: 4},
		"Int/7":             dlpack.DataType{Code: dlpack.CodeInt, Bits: 7, Lanes: 1},
		"Int/0x0":           dlpack.DataType{},
		"1.3":               dlpack.Version{Major: dlpack.MajorVersion, Minor: dlpack.MinorVersion},
	} {
		assert.Equal(t, want, value.String())
	}
}

// Codes, widths and names of the data types are numbers and texts that no constant can guard.
func TestDataTypesAreThoseOfTheSpec(t *testing.T) {
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	codes := spec.Find[*spec.Enum](release, "DLDataTypeCode")
	for _, d := range release.DTypes {
		i := slices.IndexFunc(codes.Values, func(v spec.EnumValue) bool { return v.Name == d.Code })
		require.GreaterOrEqual(t, i, 0, d.Code)
		code := dlpack.DataTypeCode(codes.Values[i].Value)
		assert.Equal(t, d.Name, dlpack.DataType{Code: code, Bits: uint8(d.Bits), Lanes: uint16(d.Lanes)}.String())
		assert.Equal(t, "kDL"+code.String(), d.Code)
	}
}
