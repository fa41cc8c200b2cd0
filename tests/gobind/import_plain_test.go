package gobind

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// dense fills both structs with a tensor that is contiguous, or nearly, which the import checks
// without the full validation.
func (c *choices) dense(f Foreign) {
	ndim := pick(c, 2, 1, 3, 0, 8)
	shape, strides := make([]int64, ndim), make([]int64, ndim)
	next := int64(1)
	for i := ndim - 1; i >= 0; i-- {
		shape[i] = pick[int64](c, 2, 1, 3, 1, 1<<20, 1<<31, 1<<32, 1<<61, math.MaxInt64, 0, -1)
		strides[i] = pick(c, next, next, next, next+1, 0)
		next *= shape[i] // may wrap, as in a hostile tensor
	}
	f.Reshape(shape, strides)
	t := f.Versioned().DLTensor
	t.DType = pick(c, t.DType, dlpack.DTypeInt8, dlpack.DTypeBool, dlpack.DTypeComplex128, dlpack.DTypeFloat8E4M3FN,
		dlpack.DataType{Code: dlpack.CodeInt, Bits: 4, Lanes: 1},
		dlpack.DataType{Code: dlpack.CodeBool, Bits: 32, Lanes: 1},
		dlpack.DataType{Code: dlpack.CodeFloat, Bits: 32}, dlpack.DataType{Code: 77, Bits: 248, Lanes: 1})
	t.Device.Type = pick(c, t.Device.Type, dlpack.DeviceCUDA, dlpack.DeviceMetal, 999)
	t.ByteOffset = pick[uint64](c, 0, 4, 1<<62, 1<<63, math.MaxUint64)
	t.Data = pick(c, t.Data, t.Data, 0, math.MaxInt64-8, math.MaxUint64-8)
	f.Versioned().DLTensor, f.Legacy().DLTensor = t, t
}

// The fast check of an import accepts only tensors that the C validator accepts.
func TestContiguousTensorsAreJudgedAsInC(t *testing.T) {
	rounds := 300_000
	if testing.Short() {
		rounds = 30_000
	}
	random := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 24)
	f := foreign(t)
	pristine := *f.Versioned()
	accepted := 0
	for range rounds {
		for i := range data {
			data[i] = 0
			if random.IntN(3) == 0 {
				data[i] = byte(random.Uint32())
			}
		}
		f.Versioned().DLTensor, f.Legacy().DLTensor = pristine.DLTensor, pristine.DLTensor
		(&choices{data}).dense(f)
		m, err := dlpack.Import(f.Versioned())
		require.Equal(t, f.Fault() == 0, err == nil, "C returns %d, Go %v: %+v", f.Fault(), err, f.Versioned())
		readAll(m)
		if m != nil {
			accepted++
		}
	}
	assert.Equal(t, rounds, f.Deleted())
	assert.Greater(t, accepted, rounds/20)
	assert.Less(t, accepted, rounds*19/20)
}

func TestInitFillsAManagedOfTheCaller(t *testing.T) {
	f := foreign(t)
	var m dlpack.Managed
	assert.Equal(t, dlpack.Tensor{}, m.Tensor())
	m.Release()
	require.NoError(t, m.Init(f.Versioned()))
	assert.Equal(t, f.Addr(), m.Tensor().Addr())
	m.Release()
	require.NoError(t, m.InitLegacy(f.Legacy()), "it can be filled again")
	assert.Equal(t, f.Addr(), m.Tensor().Addr())
	m.Release()
	assert.Equal(t, 2, f.Deleted())
}

func TestInitDeletesWhatItCannotHold(t *testing.T) {
	kept, other := foreign(t), foreign(t)
	var m dlpack.Managed
	require.NoError(t, m.Init(kept.Versioned()))
	require.ErrorIs(t, m.Init(other.Versioned()), dlpack.ErrArgument)
	require.ErrorIs(t, m.InitLegacy(other.Legacy()), dlpack.ErrArgument)
	assert.Equal(t, 2, other.Deleted())
	assert.Zero(t, kept.Deleted())
	assert.Equal(t, kept.Addr(), m.Tensor().Addr())
	m.Release()

	other.Versioned().DLTensor.NDim = -1
	require.ErrorIs(t, m.Init(other.Versioned()), dlpack.ErrShape)
	assert.Equal(t, dlpack.Tensor{}, m.Tensor(), "after an error it owns nothing")
	m.Release()
	assert.Equal(t, 3, other.Deleted())
	assert.Equal(t, 1, kept.Deleted())
	require.ErrorIs(t, m.Init(nil), dlpack.ErrArgument)
	require.ErrorIs(t, m.InitLegacy(nil), dlpack.ErrArgument)
}

func TestImportAllocatesNothing(t *testing.T) {
	f := foreign(t)
	var m dlpack.Managed
	for name, exchange := range map[string]func(){
		"Import": func() {
			m, err := dlpack.Import(f.Versioned())
			if err == nil {
				m.Release()
			}
		},
		"ImportLegacy": func() {
			m, err := dlpack.ImportLegacy(f.Legacy())
			if err == nil {
				m.Release()
			}
		},
		"Init": func() {
			if m.Init(f.Versioned()) == nil {
				m.Release()
			}
		},
	} {
		before := f.Deleted()
		assert.Zero(t, testing.AllocsPerRun(100, exchange), name)
		assert.Equal(t, before+101, f.Deleted(), name)
	}
}
