//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dlpack "dlpackgen.invalid/dlpack"
)

func testThreads(t *testing.T) {
	d := 500 * time.Millisecond
	if testing.Short() {
		d = 50 * time.Millisecond
	}
	Soak(t, d)
}

// Soak exports, imports and releases tensors in many goroutines and on foreign threads, while the
// garbage collector runs continuously. It takes slightly longer than the given time.
func Soak(t *testing.T, d time.Duration) {
	noLeak(t)
	var collector, workers sync.WaitGroup
	var stop atomic.Bool
	trapped, rounds := dlpack.DoubleReleases(), new(atomic.Int64)
	collector.Add(1)
	go func() {
		defer collector.Done()
		for !stop.Load() {
			runtime.GC()
		}
	}()
	for worker := range 4 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for end := time.Now().Add(d); time.Now().Before(end) && !t.Failed(); rounds.Add(1) {
				soakRound(t, int32(worker))
			}
		}()
	}
	workers.Wait()
	stop.Store(true)
	collector.Wait()
	equal(t, "double releases", dlpack.DoubleReleases(), trapped)
	t.Logf("%d tensors in %v", soakTensors*rounds.Load(), d)
}

const soakTensors = 100

// soakRound exports new slices that only the tensors keep alive, and reads them back. It releases a
// third of the tensors, and C releases the others.
func soakRound(t *testing.T, mark int32) {
	var left []*dlpack.DLManagedTensorVersioned
	for i := range int32(soakTensors) {
		p, err := dlpack.Export([]int32{mark, i, mark ^ i})
		if err != nil {
			t.Error(err)
			return
		}
		left = append(left, p)
	}
	released := 0
	for i, p := range left {
		m, err := dlpack.Import(p)
		if err != nil {
			t.Error(err)
			return
		}
		v, err := dlpack.Data[int32](m.Tensor())
		if err != nil || len(v) != 3 || v[0] != mark || v[1] != int32(i) || v[2] != mark^int32(i) {
			t.Errorf("tensor %d of worker %d became %v, %v", i, mark, v, err)
		}
		if i%3 == 0 {
			m.Release()
			left[released], left[i] = left[i], left[released]
			released++
		}
	}
	deleteOnThreads(3, left[released:]...)
}
