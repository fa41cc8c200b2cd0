package gobind

import (
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// foreigners creates tensors in C, every third of which is used as a legacy one.
func foreigners(t *testing.T, n int) (all []Foreign, managed []*dlpack.Managed) {
	t.Helper()
	for i := range n {
		f := foreign(t)
		m, err := (*dlpack.Managed)(nil), error(nil)
		if i%3 == 0 {
			m, err = dlpack.ImportLegacy(f.Legacy())
		} else {
			m, err = dlpack.Import(f.Versioned())
		}
		require.NoError(t, err)
		all, managed = append(all, f), append(managed, m)
	}
	return all, managed
}

func TestReleaseAllIsOneCrossing(t *testing.T) {
	all, managed := foreigners(t, 100)
	managed[7].Release()
	managed[8].Detach()
	managed = append(managed, nil, new(dlpack.Managed), managed[3])
	calls := runtime.NumCgoCall()
	dlpack.ReleaseAll(managed...)
	assert.Equal(t, int64(1), runtime.NumCgoCall()-calls)
	dlpack.ReleaseAll(managed...)
	dlpack.ReleaseAll()
	assert.Equal(t, int64(1), runtime.NumCgoCall()-calls, "nothing is left to call C for")
	for i, f := range all {
		assert.Equal(t, map[bool]int{true: 0, false: 1}[i == 8], f.Deleted(), i)
	}
}

func TestReleaseAllBesideOthers(t *testing.T) {
	all, managed := foreigners(t, 50)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { dlpack.ReleaseAll(managed...) })
		wg.Go(func() {
			for _, m := range managed {
				m.Release()
			}
		})
	}
	wg.Wait()
	for _, f := range all {
		assert.Equal(t, 1, f.Deleted())
	}
}

func TestABatchReleasesAllInOneCrossing(t *testing.T) {
	var b dlpack.Batch
	var _ io.Closer = &b
	b.Release() // nothing yet
	var all []Foreign
	for i := range 20 {
		f := foreign(t)
		f.Data()[0] = float32(i)
		tensor, err := b.Import(f.Versioned())
		require.NoError(t, err)
		values, err := dlpack.Data[float32](tensor)
		require.NoError(t, err)
		assert.Equal(t, float32(i), values[0])
		_, err = b.ImportLegacy(f.Legacy())
		require.NoError(t, err)
		all = append(all, f)
	}
	assert.Equal(t, 40, b.Len())
	calls := runtime.NumCgoCall()
	require.NoError(t, b.Close())
	assert.Equal(t, int64(1), runtime.NumCgoCall()-calls)
	b.Release()
	assert.Zero(t, b.Len())
	for _, f := range all {
		assert.Equal(t, 2, f.Deleted(), "one for each face")
	}
}

func TestABatchDeletesWhatItRejects(t *testing.T) {
	var b dlpack.Batch
	f := foreign(t)
	f.Versioned().DLTensor.NDim, f.Legacy().DLTensor.NDim = -1, -1
	_, err := b.Import(f.Versioned())
	require.ErrorIs(t, err, dlpack.ErrShape)
	_, err = b.ImportLegacy(f.Legacy())
	require.ErrorIs(t, err, dlpack.ErrShape)
	assert.Zero(t, b.Len())
	b.Release()
	assert.Equal(t, 2, f.Deleted())
}

func TestABatchFromManyGoroutines(t *testing.T) {
	var b dlpack.Batch
	var wg sync.WaitGroup
	all := make([]Foreign, 200)
	for i := range all {
		all[i] = foreign(t)
	}
	for side := range 4 {
		wg.Go(func() {
			for i := side; i < len(all); i += 4 {
				_, err := b.Import(all[i].Versioned())
				assert.NoError(t, err)
				if i%10 == 0 {
					b.Release()
				}
			}
		})
	}
	wg.Wait()
	b.Release()
	for _, f := range all {
		assert.Equal(t, 1, f.Deleted())
	}
}

// A deleter in Go may use the batch that is being released.
func TestADeleterMayUseItsBatch(t *testing.T) {
	var b dlpack.Batch
	f := foreign(t)
	hook := func() {
		b.Release()
		_, err := b.Import(f.Versioned())
		assert.NoError(t, err)
	}
	_, err := b.Import(must(dlpack.ExportWith([]int8{1}, dlpack.ExportOptions{OnRelease: hook}))(t))
	require.NoError(t, err)
	b.Release()
	assert.Equal(t, 1, b.Len(), "the tensors added meanwhile")
	b.Release()
	assert.Equal(t, 1, f.Deleted())
}

func TestBatchesAllocateNothing(t *testing.T) {
	skipSanitized(t)
	all, managed := foreigners(t, 64)
	var b dlpack.Batch
	run := func() {
		for _, f := range all {
			_, _ = b.Import(f.Versioned())
		}
		b.Release()
	}
	assert.Zero(t, testing.AllocsPerRun(20, run))
	again := func() {
		for i, f := range all {
			_ = managed[i].Init(f.Versioned())
		}
		dlpack.ReleaseAll(managed...)
	}
	if !raced { // the race detector makes sync.Pool drop objects
		assert.Zero(t, testing.AllocsPerRun(20, again))
	}
	dlpack.ReleaseAll(managed...)
}
