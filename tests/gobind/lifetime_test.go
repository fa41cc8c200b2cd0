package gobind

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// watched creates a slice, and reports when the collector has freed it.
func watched() (data []int64, freed *atomic.Bool) {
	freed = new(atomic.Bool)
	data = make([]int64, 1024)
	runtime.AddCleanup(&data[0], func(f *atomic.Bool) { f.Store(true) }, freed)
	return data, freed
}

// exportWatched exports a slice that only the tensor refers to.
func exportWatched(t *testing.T) (*dlpack.DLManagedTensorVersioned, *atomic.Bool) {
	t.Helper()
	data, freed := watched()
	for i := range data {
		data[i] = int64(i)
	}
	p, err := dlpack.Export(data)
	require.NoError(t, err)
	return p, freed
}

func collect(cycles int) {
	for range cycles {
		runtime.GC()
		time.Sleep(2 * time.Millisecond) // cleanups run on a separate goroutine
	}
}

// collectUntil reports whether a condition holds after some collections; their number is limited
// instead of the time, because load delays each one.
func collectUntil(holds func() bool) bool {
	for range 1000 {
		if collect(1); holds() {
			return true
		}
	}
	return false
}

func TestASliceLivesAsLongAsItsConsumer(t *testing.T) {
	p, freed := exportWatched(t)
	collect(4)
	require.False(t, freed.Load(), "the consumer still has it")
	tensor := imported(t, p, nil)
	values, err := dlpack.Data[int64](tensor)
	require.NoError(t, err)
	for i, v := range values {
		require.Equal(t, int64(i), v)
	}
}

func TestTheCollectorFreesWhatConsumersReleased(t *testing.T) {
	p, freed := exportWatched(t)
	collect(2)
	Consume(p)
	assert.True(t, collectUntil(freed.Load), "neither an export nor Drain followed")
}

func TestDrainUnpinsAtOnce(t *testing.T) {
	before := dlpack.Drain()
	p, freed := exportWatched(t)
	assert.Equal(t, before+1, dlpack.Drain())
	ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{p}, 1)
	assert.Equal(t, before, dlpack.Drain())
	collect(1)
	for !freed.Load() { // the cleanup runs on another goroutine, which load may delay for any time
		time.Sleep(time.Millisecond)
	}
}

func TestASecondReleaseIsTrapped(t *testing.T) {
	skipFatal(t)
	before, outstanding := dlpack.DoubleReleases(), dlpack.Drain()
	p, err := dlpack.Export([]int8{1})
	require.NoError(t, err)
	Consume(p)
	Consume(p)
	assert.Equal(t, before+1, dlpack.DoubleReleases())
	legacy, err := dlpack.ExportLegacy([]int8{1}, dlpack.ExportOptions{})
	require.NoError(t, err)
	ConsumeLegacy(legacy)
	ConsumeLegacy(legacy)
	assert.Equal(t, before+2, dlpack.DoubleReleases())
	assert.Equal(t, outstanding, dlpack.Drain(), "each slot was returned once")
}

// Consumers copy the struct, or keep the deleter separately.
func TestASecondReleaseByAKeptDeleterIsTrapped(t *testing.T) {
	skipFatal(t)
	b := alloc[int8](t, 1)
	first := must(b.Export())(t)
	legacy := must(dlpack.ExportLegacy([]int8{1}, dlpack.ExportOptions{}))(t)
	for name, p := range map[string]*dlpack.DLManagedTensorVersioned{
		"a slice": must(dlpack.Export([]int8{1}))(t), "a buffer": first, "a buffer again": must(b.Export())(t),
	} {
		before, deleter := dlpack.DoubleReleases(), p.Deleter
		Consume(p)
		outstanding := dlpack.Drain()
		ConsumeBy(deleter, p)
		assert.Equal(t, before+1, dlpack.DoubleReleases(), name)
		assert.Equal(t, outstanding, dlpack.Drain(), name)
	}
	before, deleter := dlpack.DoubleReleases(), legacy.Deleter
	ConsumeLegacy(legacy)
	ConsumeBy(deleter, (*dlpack.DLManagedTensorVersioned)(unsafe.Pointer(legacy)))
	assert.Equal(t, before+1, dlpack.DoubleReleases())
	one, other := must(dlpack.Export([]int8{1}))(t), must(dlpack.Export([]int8{2}))(t)
	assert.NotSame(t, one, other, "no slot was returned twice")
	Consume(one)
	Consume(other)
}

func TestSlotsAreUsedAgain(t *testing.T) {
	if sanitized {
		t.Skip("each tensor has separate memory, so that the sanitizer detects frees")
	}
	seen := map[*dlpack.DLManagedTensorVersioned]bool{}
	data := make([]float32, 16)
	for range 10_000 {
		p, err := dlpack.Export(data)
		require.NoError(t, err)
		seen[p] = true
		Consume(p)
	}
	assert.Less(t, len(seen), 1_000)
}

func TestOneSliceInManyTensors(t *testing.T) {
	data, freed := watched()
	var all []*dlpack.DLManagedTensorVersioned
	for range 500 {
		p, err := dlpack.Export(data)
		require.NoError(t, err)
		all = append(all, p)
	}
	runtime.KeepAlive(data)
	ConsumeOnThreads(all[1:], 4)
	dlpack.Drain()
	collect(3)
	assert.False(t, freed.Load(), "one tensor is left")
	Consume(all[0])
	dlpack.Drain()
	assert.True(t, collectUntil(freed.Load))
}

// Goroutines export while C threads release and the collector runs.
func TestConcurrentExportsAndReleases(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	before := dlpack.Drain()
	collecting(t)
	var exporters sync.WaitGroup
	for worker := range 4 {
		exporters.Go(func() {
			for range rounds {
				releaseRound(t, int32(worker))
			}
		})
	}
	exporters.Wait()
	assert.Equal(t, before, dlpack.Drain())
}

// releaseRound exports new slices, reads them back through their tensors, and releases them in C.
func releaseRound(t *testing.T, mark int32) {
	all := make([]*dlpack.DLManagedTensorVersioned, 100)
	for i := range all {
		p, err := dlpack.Export([]int32{mark, int32(i)})
		if !assert.NoError(t, err) {
			return
		}
		all[i] = p
	}
	for i, p := range all {
		m, err := dlpack.Import(p)
		if !assert.NoError(t, err) {
			return
		}
		values, err := dlpack.Data[int32](m.Tensor())
		assert.NoError(t, err)
		assert.Equal(t, []int32{mark, int32(i)}, values)
		if i%2 == 0 {
			m.Release()
			all[i] = nil
		}
	}
	var left []*dlpack.DLManagedTensorVersioned
	for _, p := range all {
		if p != nil {
			left = append(left, p)
		}
	}
	ConsumeOnThreads(left, 3)
}

func TestGoroutinesAreNotLeft(t *testing.T) {
	collect(1)
	before := runtime.NumGoroutine()
	for range 1000 {
		p, err := dlpack.Export([]int8{1, 2})
		require.NoError(t, err)
		Consume(p)
	}
	collect(3)
	// assert.Eventually has its own goroutines, and load delays the end of ours for any time.
	for end := testtool.Spent(t) + 10*time.Second; runtime.NumGoroutine() > before; runtime.Gosched() {
		if testtool.Spent(t) > end {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}
