//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	dlpack "dlpackgen.invalid/dlpack"
)

// testLifetimes checks which slices the garbage collector has freed.
func testLifetimes(t *testing.T) {
	t.Run("HeldByTheConsumer", func(t *testing.T) {
		noLeak(t)
		p, freed := exportWatched(t)
		collect(4)
		equal(t, "freed before its release", freed.Load(), false)
		for i, v := range must[[]int64](t)(dlpack.Data[int64](imported(t, p))) {
			if v != int64(i) {
				t.Fatalf("element %d became %d", i, v)
			}
		}
	})
	t.Run("FreedByDrain", func(t *testing.T) {
		noLeak(t)
		p, freed := exportWatched(t)
		deleteOnThreads(1, p)
		dlpack.Drain()
		collectUntil(t, freed)
	})
	t.Run("FreedByTheCollector", func(t *testing.T) {
		noLeak(t)
		p, freed := exportWatched(t)
		deleteOnThreads(1, p)
		collectUntil(t, freed)
	})
	t.Run("NoGoroutineStays", testGoroutines)
}

// exportWatched exports a slice that only the tensor refers to, and reports when the collector has
// freed it.
func exportWatched(t *testing.T) (*dlpack.DLManagedTensorVersioned, *atomic.Bool) {
	t.Helper()
	freed := new(atomic.Bool)
	data := make([]int64, 1024)
	for i := range data {
		data[i] = int64(i)
	}
	runtime.AddCleanup(&data[0], func(f *atomic.Bool) { f.Store(true) }, freed)
	return must[exported](t)(dlpack.Export(data)), freed
}

func collect(cycles int) {
	for range cycles {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a separate goroutine
	}
}

func collectUntil(t *testing.T, freed *atomic.Bool) {
	t.Helper()
	for range 1000 { // several collections, because load delays each one
		if freed.Load() {
			return
		}
		collect(1)
	}
	t.Fatal("the slice was not freed after its release")
}

func testGoroutines(t *testing.T) {
	collect(2)
	before := runtime.NumGoroutine()
	data := make([]int8, 8)
	for range 1000 {
		deleteOnThreads(1, must[exported](t)(dlpack.Export(data)))
	}
	for range 2000 {
		collect(1)
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
