package gobind

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// choices converts bytes to values that break validators.
type choices struct {
	data []byte
}

func pick[T any](c *choices, from ...T) T {
	if len(c.data) == 0 {
		return from[0]
	}
	b := c.data[0]
	c.data = c.data[1:]
	return from[int(b)%len(from)]
}

func (c *choices) extent() int64 {
	return pick[int64](c, 2, 1, 0, 3, 1<<20, 1<<31, 1<<32, 1<<61, 1<<62, math.MaxInt64, -1, math.MinInt64)
}

func (c *choices) stride() int64 {
	return pick[int64](c, 1, 0, 3, -1, -3, 1<<32, -1<<32, 1<<60, -1<<60, 1<<62, -1<<62, math.MaxInt64, math.MinInt64)
}

// spoil fills both structs of a tensor from the bytes.
func (c *choices) spoil(f Foreign) {
	ndim := pick[int32](c, 2, 0, 1, 3, 7, 8, 9, dlpack.MaxNDim, dlpack.MaxNDim+1, -1, math.MaxInt32, math.MinInt32)
	shape, strides := make([]int64, MaxForeignNDim), make([]int64, MaxForeignNDim)
	for i := range shape {
		shape[i], strides[i] = 1, 1
	}
	for i := range max(0, min(int(ndim), 4)) {
		shape[i], strides[i] = c.extent(), c.stride()
	}
	f.Reshape(shape, strides)
	t := f.Versioned().DLTensor
	t.NDim = ndim
	t.DType.Code = dlpack.DataTypeCode(pick[uint8](c, 2, 0, 1, 3, 4, 5, 6, 7, 10, 14, 15, 16, 17, 18, 99, 255))
	t.DType.Bits = pick[uint8](c, 32, 0, 1, 4, 6, 7, 8, 9, 64, 255)
	t.DType.Lanes = pick[uint16](c, 1, 0, 2, 3, math.MaxUint16)
	t.Device.Type = dlpack.DeviceType(pick[int32](c, 1, 2, 3, 4, 7, 8, 12, 14, 18, 0, -1, 5, 999))
	t.ByteOffset = pick[uint64](c, 0, 4, 1<<20, 1<<62, 1<<63, math.MaxUint64-3, math.MaxUint64)
	t.Data = pick(c, t.Data, 0, 1, math.MaxUint64-64, math.MaxUint64)
	t.Shape = pick(c, t.Shape, t.Shape, t.Shape, 0)
	t.Strides = pick(c, t.Strides, t.Strides, t.Strides, 0)
	f.Versioned().DLTensor, f.Legacy().DLTensor = t, t
	f.Versioned().Flags = pick[dlpack.Flags](c, 0, dlpack.FlagIsSubbyteTypePadded, dlpack.FlagReadOnly, math.MaxUint64)
	f.Versioned().Version.Minor = pick[uint32](c, 3, 0, 1, 2, math.MaxUint32)
	f.Versioned().Version.Major = pick[uint32](c, 1, 1, 1, 1, 0, 2)
}

// agree imports a damaged tensor, and expects the same verdict from C's validator, for the same
// mistake.
func agree(t *testing.T, data []byte) (accepted bool) {
	t.Helper()
	f := NewForeign()
	defer f.Free()
	(&choices{data}).spoil(f)
	m, err := dlpack.Import(f.Versioned())
	require.True(t, IsListed(f.Fault()), "give fault %d an error in foreign.go", f.Fault())
	require.True(t, Agrees(f.Fault(), err), "C returns %d, Go %v: %+v", f.Fault(), err, f.Versioned())
	readAll(m)
	legacy, err := dlpack.ImportLegacy(f.Legacy())
	require.True(t, Agrees(f.FaultLegacy(), err), "C returns %d, Go %v: %+v", f.FaultLegacy(), err, f.Legacy())
	readAll(legacy)
	require.Equal(t, 2, f.Deleted())
	return m != nil
}

// readAll calls the methods of an accepted tensor, except for reading its elements, whose memory
// does not exist.
func readAll(m *dlpack.Managed) {
	if m == nil {
		return
	}
	t := m.Tensor()
	_, _, _, _ = t.Len(), t.IsContiguous(), t.Addr(), t.DataType().String()
	_, _ = t.Shape(), t.Strides()
	m.Release()
}

func TestAnotherKindDisagrees(t *testing.T) {
	f := NewForeign()
	defer f.Free()
	valid := f.Fault()
	f.Versioned().DLTensor.DType.Lanes = 0
	lanes := f.Fault()
	_, err := dlpack.Import(f.Versioned())
	f.Versioned().DLTensor.DType.Bits = 0
	assert.False(t, Agrees(f.Fault(), err), "of the same kind")
	assert.True(t, Agrees(lanes, err))
	assert.True(t, Agrees(valid, nil))
	assert.False(t, Agrees(valid, err))
	assert.False(t, Agrees(lanes, nil))
	assert.False(t, Agrees(lanes, dlpack.ErrShape))
	assert.True(t, Agrees(1000, err), "a fault without an error")
	assert.False(t, Agrees(1000, nil))
	assert.False(t, IsListed(1000))
}

// DLPACKGEN_HOSTILE=10000000 compares that many.
func TestGoAndCJudgeAlike(t *testing.T) {
	rounds := setting(t, "DLPACKGEN_HOSTILE", strconv.Atoi, 20_000, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 20)
	accepted := 0
	for range rounds {
		for i := range data {
			data[i] = 0
			if random.IntN(3) == 0 { // most fields remain valid, so later checks are reached
				data[i] = byte(random.Uint32())
			}
		}
		if agree(t, data) {
			accepted++
		}
	}
	assert.Greater(t, accepted, rounds/20, "too few good tensors to judge by")
	assert.Less(t, accepted, rounds*19/20, "too few bad ones")
}

func FuzzGoAndCJudgeAlike(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 7, 7, 8, 8, 16, 3, 4, 9, 5, 1, 1, 1, 1})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 4})
	f.Add([]byte{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
