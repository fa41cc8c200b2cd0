package gobind

import (
	"bytes"
	"io"
	"math"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// alloc returns a Buffer that is released at the end of the test.
func alloc[T dlpack.Element](t *testing.T, shape ...int64) *dlpack.Buffer[T] {
	t.Helper()
	b, err := dlpack.Alloc[T](shape...)
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

func TestABufferIsAContiguousTensorOfZeros(t *testing.T) {
	for range 3 { // later Buffers get memory that was written before
		b, err := dlpack.Alloc[int32](3, 5)
		require.NoError(t, err)
		assert.Equal(t, make([]int32, 15), b.Slice())
		assert.Zero(t, b.Tensor().Addr()%dlpack.Alignment)
		assert.Equal(t, uintptr(unsafe.Pointer(&b.Slice()[0])), b.Tensor().Addr())
		assert.Equal(t, []int64{3, 5}, b.Tensor().Shape())
		assert.Equal(t, []int64{5, 1}, b.Tensor().Strides())
		assert.Equal(t, dlpack.DTypeInt32, b.Tensor().DataType())
		assert.True(t, b.Tensor().IsContiguous())
		for i := range b.Slice() {
			b.Slice()[i] = -1
		}
		b.Release()
	}
}

func TestBuffersOfEverySize(t *testing.T) {
	for _, n := range []int64{0, 1, 255, 256, 257, 512, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5 << 20} {
		b := alloc[uint8](t, n)
		require.Len(t, b.Slice(), int(n))
		require.Equal(t, int(n), bytes.Count(b.Slice(), []byte{0}), "all of them zero")
		copy(b.Slice(), bytes.Repeat([]byte{0xff}, int(n)))
		tensor := imported(t, must(b.Export())(t), nil)
		assert.Equal(t, int(n), tensor.Len())
		assert.Equal(t, n == 0, tensor.Addr() == 0, "an empty tensor has no data")
	}
}

// must returns the value of a call that must not fail.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return value
	}
}

func TestBuffersOfEveryRank(t *testing.T) {
	scalar := alloc[complex128](t)
	scalar.Slice()[0] = 2i
	assert.Zero(t, imported(t, must(scalar.Export())(t), nil).NDim())
	assert.Zero(t, imported(t, must(scalar.ExportWith(dlpack.ExportOptions{}))(t), nil).NDim())
	for _, ndim := range []int{1, 8, 9, dlpack.MaxNDim} {
		shape := make([]int64, ndim)
		for i := range shape {
			shape[i] = 1
		}
		shape[0] = 4
		b := alloc[float64](t, shape...)
		for range 2 { // in the buffer itself, then in a slot
			tensor := imported(t, must(b.Export())(t), nil)
			assert.Equal(t, shape, tensor.Shape())
			assert.True(t, tensor.IsContiguous())
		}
	}
}

func TestABufferLivesAsLongAsItsConsumers(t *testing.T) {
	before := dlpack.Drain()
	b, err := dlpack.Alloc[int64](4)
	require.NoError(t, err)
	copy(b.Slice(), []int64{1, 2, 3, 4})
	var held []*dlpack.DLManagedTensorVersioned
	for range 3 {
		held = append(held, must(b.Export())(t))
	}
	b.Release()
	assert.Equal(t, before+3, dlpack.Drain())
	other := alloc[int64](t, 4) // must not get the same memory
	other.Slice()[0] = 9
	for i, p := range held {
		m, err := dlpack.Import(p)
		require.NoError(t, err)
		values, err := dlpack.Data[int64](m.Tensor())
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2, 3, 4}, values, i)
		p, _ := m.Detach()
		ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{p}, 1)
	}
	assert.Equal(t, before, dlpack.Drain())
}

func TestABufferAfterItsRelease(t *testing.T) {
	b, err := dlpack.Alloc[int8](2)
	require.NoError(t, err)
	require.NoError(t, b.Retain())
	b.Release()
	assert.Len(t, b.Slice(), 2, "there were two owners")
	var _ io.Closer = b
	require.NoError(t, b.Close())
	b.Release()
	assert.Nil(t, b.Slice())
	assert.Equal(t, dlpack.Tensor{}, b.Tensor())
	require.ErrorIs(t, b.Retain(), dlpack.ErrReleased)
	_, err = b.Export()
	require.ErrorIs(t, err, dlpack.ErrReleased)
	_, err = b.ExportWith(dlpack.ExportOptions{})
	require.ErrorIs(t, err, dlpack.ErrReleased)
	_, err = b.ExportLegacy(dlpack.ExportOptions{})
	require.ErrorIs(t, err, dlpack.ErrReleased)
	_, err = new(dlpack.Buffer[int8]).Export()
	require.ErrorIs(t, err, dlpack.ErrReleased)
}

func TestBufferViews(t *testing.T) {
	b := alloc[int16](t, 2, 3)
	copy(b.Slice(), []int16{0, 1, 2, 3, 4, 5})
	o := dlpack.ExportOptions{Shape: []int64{3}, Strides: []int64{-2}, Offset: 5, Flags: dlpack.FlagReadOnly}
	tensor := imported(t, must(b.ExportWith(o))(t), nil)
	assert.True(t, tensor.IsReadOnly())
	var values []int16
	for i := range int64(3) {
		values = append(values, must(dlpack.At[int16](tensor, i))(t))
	}
	assert.Equal(t, []int16{5, 3, 1}, values)

	whole := imported(t, must(b.ExportWith(dlpack.ExportOptions{Flags: dlpack.FlagIsCopied}))(t), nil)
	assert.Equal(t, []int64{2, 3}, whole.Shape())
	assert.Equal(t, dlpack.FlagIsCopied, whole.Flags())

	legacy, err := dlpack.ImportLegacy(must(b.ExportLegacy(dlpack.ExportOptions{}))(t))
	require.NoError(t, err)
	defer legacy.Release()
	assert.Equal(t, b.Tensor().Addr(), legacy.Tensor().Addr())

	before := dlpack.Drain()
	_, err = b.ExportWith(dlpack.ExportOptions{Offset: 1})
	require.ErrorIs(t, err, dlpack.ErrShape, "the buffer's own shape does not fit any more")
	_, err = b.ExportLegacy(dlpack.ExportOptions{Flags: dlpack.FlagReadOnly})
	require.ErrorIs(t, err, dlpack.ErrReadOnly)
	assert.Equal(t, before, dlpack.Drain())
}

func TestAllocRejects(t *testing.T) {
	for name, shape := range map[string][]int64{
		"a negative extent":   {2, -1},
		"over 63 bits":        {math.MaxInt64, 3},
		"bytes over 63 bits":  {math.MaxInt64 / 2},
		"no room to align":    {math.MaxInt64 / 8},
		"too many dimensions": make([]int64, dlpack.MaxNDim+1),
	} {
		_, err := dlpack.Alloc[float64](shape...)
		require.ErrorIs(t, err, dlpack.ErrShape, name)
	}
	skipFatal(t)
	_, err := dlpack.Alloc[float64](1 << 58)
	require.ErrorIs(t, err, dlpack.ErrNoMemory)
}

func TestBlocksAreUsedAgain(t *testing.T) {
	if sanitized {
		t.Skip("each block is freed at once, so that the sanitizer detects later uses")
	}
	seen := map[uintptr]bool{}
	for range 1000 {
		b, err := dlpack.Alloc[float32](300)
		require.NoError(t, err)
		p, again := must(b.Export())(t), must(b.Export())(t)
		reshaped := must(b.ExportWith(dlpack.ExportOptions{Shape: []int64{3, 100}}))(t)
		legacy := must(b.ExportLegacy(dlpack.ExportOptions{}))(t)
		seen[b.Tensor().Addr()] = true
		b.Release()
		ConsumeLegacy(legacy)
		for _, last := range []*dlpack.DLManagedTensorVersioned{p, again, reshaped} {
			Consume(last)
		}
	}
	assert.Less(t, len(seen), 10)
}

func TestASecondReleaseOfABufferIsTrapped(t *testing.T) {
	skipFatal(t)
	before, outstanding := dlpack.DoubleReleases(), dlpack.Drain()
	b := alloc[int8](t, 1)
	p := must(b.Export())(t)
	Consume(p)
	Consume(p)
	assert.Equal(t, before+1, dlpack.DoubleReleases())
	assert.Equal(t, outstanding, dlpack.Drain())
	assert.Len(t, b.Slice(), 1, "the Buffer is still Go's")
}

func TestBufferExportsAllocateNothing(t *testing.T) {
	skipSanitized(t)
	b := alloc[float32](t, 16, 16)
	for _, held := range []int{1, 3} { // in the buffer itself, and in slots
		all := make([]*dlpack.DLManagedTensorVersioned, held)
		run := func() {
			for i := range all {
				all[i], _ = b.Export()
			}
			for _, p := range all {
				Consume(p)
			}
		}
		run()
		assert.Zero(t, testing.AllocsPerRun(100, run))
		assert.Equal(t, int64(100*held), crossings(100, run), "only the consumer's calls are crossings")
	}
}

// Goroutines share one Buffer, whose tensors are deleted on C threads.
func TestOneBufferManyOwners(t *testing.T) {
	before := dlpack.Drain()
	b, err := dlpack.Alloc[int64](8)
	require.NoError(t, err)
	for i := range b.Slice() {
		b.Slice()[i] = int64(i)
	}
	want := []int64{0, 1, 2, 3, 4, 5, 6, 7}
	var owners sync.WaitGroup
	for range 4 {
		require.NoError(t, b.Retain())
		owners.Go(func() {
			defer b.Release()
			for range 200 {
				var exported []*dlpack.DLManagedTensorVersioned
				for range 4 {
					p, err := b.Export()
					if !assert.NoError(t, err) {
						return
					}
					exported = append(exported, p)
				}
				assert.Equal(t, want, b.Slice())
				ConsumeOnThreads(exported, 2)
			}
		})
	}
	b.Release()
	owners.Wait()
	assert.Nil(t, b.Slice())
	assert.Equal(t, before, dlpack.Drain())
}
