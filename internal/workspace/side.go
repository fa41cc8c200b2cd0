package workspace

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls a function for each number below n, concurrently on all cores. It returns when all
// calls have returned. tick is called after each call, from one goroutine at a time, with the
// number of finished calls.
func Each(n int, do func(i int), tick func(done int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	var turn sync.Mutex
	done := 0
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
			turn.Lock()
			done++
			tick(done)
			turn.Unlock()
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		all.Go(work)
	}
	work() // here: a single call, such as for the one target of a config, needs no other goroutine
	all.Wait()
}
