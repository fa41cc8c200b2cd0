package workspace

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each does something for each number below n, as many at a time as there are cores. It returns
// when all are done. tick is called after each, from one goroutine at a time, with how many are.
func Each(n int, do func(i int), tick func(done int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	var turn sync.Mutex
	done := 0
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
				turn.Lock()
				done++
				tick(done)
				turn.Unlock()
			}
		})
	}
	all.Wait()
}
