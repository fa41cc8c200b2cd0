package gobind

import (
	"io"
	"math"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// foreign creates a tensor in C that is freed at the end of the test.
func foreign(t *testing.T) Foreign {
	t.Helper()
	f := NewForeign()
	require.NotNil(t, f.c, "C returned no memory")
	t.Cleanup(f.Free)
	return f
}

func TestImportSeesTheMemoryOfC(t *testing.T) {
	f := foreign(t)
	for i := range f.Data() {
		f.Data()[i] = float32(i)
	}
	f.Versioned().Flags = dlpack.FlagIsCopied
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	tensor := m.Tensor()
	assert.Equal(t, f.Addr(), tensor.Addr())
	assert.Equal(t, []int64{2, 3}, tensor.Shape())
	assert.Equal(t, []int64{3, 1}, tensor.Strides())
	assert.Equal(t, 6, tensor.Len())
	assert.Equal(t, 2, tensor.NDim())
	assert.Equal(t, dlpack.DTypeFloat32, tensor.DataType())
	assert.Equal(t, dlpack.Device{Type: dlpack.DeviceCPU}, tensor.Device())
	assert.Equal(t, dlpack.FlagIsCopied, tensor.Flags())
	assert.True(t, tensor.IsContiguous())
	assert.False(t, tensor.IsReadOnly())

	values, err := dlpack.WritableData[float32](tensor)
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 1, 2, 3, 4, 5}, values)
	values[0] = 42
	assert.Equal(t, float32(42), f.Data()[0])
	assert.Zero(t, f.Deleted())
	m.Release()
	assert.Equal(t, 1, f.Deleted())
}

func TestImportLegacy(t *testing.T) {
	f := foreign(t)
	f.Reshape([]int64{2, 3}, nil) // allowed only for a legacy or old producer
	m, err := dlpack.ImportLegacy(f.Legacy())
	require.NoError(t, err)
	assert.Nil(t, m.Tensor().Strides())
	assert.True(t, m.Tensor().IsContiguous())
	assert.Equal(t, dlpack.FlagReadOnly, m.Tensor().Flags(), "nothing declares it writable")
	assert.Zero(t, m.WritableTensor().Flags())
	m.SetReadOnly()
	assert.True(t, m.WritableTensor().IsReadOnly())
	require.NoError(t, m.Close())
	assert.Equal(t, dlpack.Tensor{}, m.WritableTensor())
	assert.Equal(t, 1, f.Deleted())
}

func TestAReadOnlyTensorHasNoWritableView(t *testing.T) {
	f := foreign(t)
	f.Versioned().Flags = dlpack.FlagReadOnly
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	assert.True(t, m.WritableTensor().IsReadOnly())
}

func TestByteOffsetIsFollowed(t *testing.T) {
	f := foreign(t)
	f.Data()[4] = 7
	f.Reshape([]int64{1}, []int64{1})
	f.Versioned().DLTensor.ByteOffset = 16
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	values, err := dlpack.Data[float32](m.Tensor())
	require.NoError(t, err)
	assert.Equal(t, []float32{7}, values)
	assert.Equal(t, f.Addr()+16, m.Tensor().Addr())
}

func TestADeleterMayBeMissing(t *testing.T) {
	f := foreign(t)
	f.Versioned().Deleter, f.Legacy().Deleter = 0, 0
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	m.Release()
	m, err = dlpack.ImportLegacy(f.Legacy())
	require.NoError(t, err)
	m.Release()
	assert.Zero(t, f.Deleted())
}

func TestReleaseRunsTheDeleterOnce(t *testing.T) {
	f := foreign(t)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	var _ io.Closer = m
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(m.Release)
	}
	wg.Wait()
	require.NoError(t, m.Close())
	assert.Equal(t, 1, f.Deleted())

	gone := m.Tensor()
	assert.Equal(t, dlpack.Tensor{}, gone)
	assert.Zero(t, gone.Len())
	assert.Empty(t, gone.Shape())
	assert.Nil(t, gone.Strides())
	assert.Zero(t, gone.Addr())
	assert.Nil(t, gone.Raw())
	assert.True(t, gone.IsContiguous())
	_, err = dlpack.Data[float32](gone)
	require.ErrorIs(t, err, dlpack.ErrReleased)
}

// Of several concurrent calls that end a tensor, exactly one receives it.
func TestOneOfManyEndsATensor(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		f := foreign(t)
		m, err := dlpack.Import(f.Versioned())
		require.NoError(t, err)
		var wg sync.WaitGroup
		for _, end := range []func(){
			m.Release,
			func() { dlpack.ReleaseAll(m) },
			func() {
				if p, _ := m.Detach(); p != nil {
					Consume(p)
				}
			},
			func() {
				if o, err := dlpack.NewObject(m); err == nil {
					o.Release()
				}
			},
		} {
			wg.Go(end)
		}
		wg.Wait()
		require.Equal(t, 1, f.Deleted())
	}
}

func TestDetachReturnsTheStruct(t *testing.T) {
	f := foreign(t)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	versioned, legacy := m.Detach()
	assert.Same(t, f.Versioned(), versioned)
	assert.Nil(t, legacy)
	m.Release()
	assert.Zero(t, f.Deleted(), "it belongs to the caller now")
	versioned, legacy = m.Detach()
	assert.Nil(t, versioned)
	assert.Nil(t, legacy)

	m, err = dlpack.ImportLegacy(f.Legacy())
	require.NoError(t, err)
	versioned, legacy = m.Detach()
	assert.Nil(t, versioned)
	assert.Same(t, f.Legacy(), legacy)
}

// The import owns an invalid tensor too: its deleter has run once.
func TestHostileTensorsAreRejectedAndDeleted(t *testing.T) {
	big := int64(math.MaxInt64)
	tests := map[string]struct {
		spoil func(*dlpack.DLTensor)
		shape []int64
		want  error
	}{
		"negative ndim":            {func(d *dlpack.DLTensor) { d.NDim = -1 }, nil, dlpack.ErrShape},
		"ndim of garbage":          {func(d *dlpack.DLTensor) { d.NDim = math.MaxInt32 }, nil, dlpack.ErrShape},
		"ndim just over the limit": {func(d *dlpack.DLTensor) { d.NDim = dlpack.MaxNDim + 1 }, nil, dlpack.ErrShape},
		"no shape":                 {func(d *dlpack.DLTensor) { d.Shape = 0 }, nil, dlpack.ErrShape},
		"shape not aligned":        {func(d *dlpack.DLTensor) { d.Shape += 4 }, nil, dlpack.ErrShape},
		"strides not aligned":      {func(d *dlpack.DLTensor) { d.Strides += 4 }, nil, dlpack.ErrShape},
		"negative extent":          {nil, []int64{2, -3}, dlpack.ErrShape},
		"negative after zero":      {nil, []int64{0, -3}, dlpack.ErrShape},
		"count over 63 bits":       {nil, []int64{1 << 32, 1 << 31}, dlpack.ErrShape},
		"count over 64 bits":       {nil, []int64{big, big}, dlpack.ErrShape},
		"bytes over 63 bits":       {nil, []int64{big, 1}, dlpack.ErrShape},
		"data NULL":                {func(d *dlpack.DLTensor) { d.Data = 0 }, nil, dlpack.ErrData},
		"byte offset wraps": {func(d *dlpack.DLTensor) { d.ByteOffset = math.MaxUint64 }, nil,
			dlpack.ErrShape},
		"end wraps": {func(d *dlpack.DLTensor) { d.Data = math.MaxUint64 - 8 }, nil, dlpack.ErrShape},
		"no lanes":  {func(d *dlpack.DLTensor) { d.DType.Lanes = 0 }, nil, dlpack.ErrDataType},
		"no bits":   {func(d *dlpack.DLTensor) { d.DType.Bits = 0 }, nil, dlpack.ErrDataType},
		"bool of 32 bits": {func(d *dlpack.DLTensor) { d.DType.Code = dlpack.CodeBool }, nil,
			dlpack.ErrDataType},
		"float8 of 32 bits": {func(d *dlpack.DLTensor) { d.DType.Code = dlpack.CodeFloat8E4M3FN }, nil,
			dlpack.ErrDataType},
		"float6 of 32 bits": {func(d *dlpack.DLTensor) { d.DType.Code = dlpack.CodeFloat6E2M3FN }, nil,
			dlpack.ErrDataType},
		"float4 of 32 bits": {func(d *dlpack.DLTensor) { d.DType.Code = dlpack.CodeFloat4E2M1FN }, nil,
			dlpack.ErrDataType},
		"bytes over 63 bits by type": {func(d *dlpack.DLTensor) {
			d.DType = dlpack.DataType{Code: 2, Bits: 255,
				Lanes: math.MaxUint16}
		}, []int64{1 << 43, 1}, dlpack.ErrShape},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := foreign(t)
			for i, d := range []*dlpack.DLTensor{&f.Versioned().DLTensor, &f.Legacy().DLTensor} {
				if test.shape != nil {
					f.Reshape(test.shape, []int64{0, 0})
					d.Strides = 0 // contiguous
					f.Versioned().Version.Minor = 1
				}
				if test.spoil != nil {
					test.spoil(d)
				}
				var err error
				if i == 0 {
					_, err = dlpack.Import(f.Versioned())
				} else {
					_, err = dlpack.ImportLegacy(f.Legacy())
				}
				require.ErrorIs(t, err, test.want)
				var failure *dlpack.Error
				require.ErrorAs(t, err, &failure)
				assert.NotEmpty(t, failure.Detail)
				assert.Equal(t, i+1, f.Deleted())
			}
		})
	}
}

func TestHostileStridesAreRejected(t *testing.T) {
	tests := map[string]struct{ shape, strides []int64 }{
		"reach over 64 bits":   {[]int64{3, 1}, []int64{math.MaxInt64, 1}},
		"sum over 64 bits":     {[]int64{2, 2, 2}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}},
		"smallest integer":     {[]int64{2, 3}, []int64{math.MinInt64, 1}},
		"before all of memory": {[]int64{2, 3}, []int64{-1 << 60, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := foreign(t)
			f.Reshape(test.shape, test.strides)
			_, err := dlpack.Import(f.Versioned())
			require.ErrorIs(t, err, dlpack.ErrShape)
			assert.Equal(t, 1, f.Deleted())
		})
	}
}

func TestStridesOfShortDimensionsAreIgnored(t *testing.T) {
	f := foreign(t)
	f.Reshape([]int64{1, 6, 1}, []int64{math.MinInt64, 1, math.MaxInt64})
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	assert.True(t, m.Tensor().IsContiguous())
}

func TestNullStridesEndedWith12(t *testing.T) {
	for minor, legal := range map[uint32]bool{0: true, 1: true, 2: false, 3: false, 9: false} {
		f := foreign(t)
		f.Reshape([]int64{2, 3}, nil)
		f.Versioned().Version.Minor = minor
		m, err := dlpack.Import(f.Versioned())
		if !legal {
			require.ErrorIs(t, err, dlpack.ErrShape, "1.%d", minor)
			continue
		}
		require.NoError(t, err, "1.%d", minor)
		m.Release()
	}
}

func TestAnotherMajorVersionIsDeletedUnread(t *testing.T) {
	for i, major := range []uint32{0, 2, math.MaxUint32} {
		p := ForeignOfMajor(major)
		require.NotNil(t, p)
		_, err := dlpack.Import(p)
		require.ErrorIs(t, err, dlpack.ErrVersion)
		assert.Equal(t, i+1, ForeignOfMajorDeleted())
	}
}

func TestImportRejectsInvalidPointers(t *testing.T) {
	_, err := dlpack.Import(nil)
	require.ErrorIs(t, err, dlpack.ErrArgument)
	_, err = dlpack.ImportLegacy(nil)
	require.ErrorIs(t, err, dlpack.ErrArgument)
	f := foreign(t)
	askew := unsafe.Add(unsafe.Pointer(f.Versioned()), 4)
	_, err = dlpack.Import((*dlpack.DLManagedTensorVersioned)(askew))
	require.ErrorIs(t, err, dlpack.ErrArgument)
	_, err = dlpack.ImportLegacy((*dlpack.DLManagedTensor)(askew))
	require.ErrorIs(t, err, dlpack.ErrArgument)
	assert.Zero(t, f.Deleted(), "the position of its deleter is unknown")
}

func TestUnknownNumbersAreKept(t *testing.T) {
	f := foreign(t)
	f.Versioned().DLTensor.Device = dlpack.Device{Type: 4242, ID: 7}
	f.Versioned().DLTensor.DType.Code = 200
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	assert.Equal(t, "DeviceType(4242):7", m.Tensor().Device().String())
	assert.Equal(t, "DataTypeCode(200)/32", m.Tensor().DataType().String())
	_, err = dlpack.Data[float32](m.Tensor())
	require.ErrorIs(t, err, dlpack.ErrDataType)
}
