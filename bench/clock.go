package main

import (
	"fmt"
	"math"
	"time"
)

// changed is the change of the clock from which figures of one suite are not comparable: goals are
// ratios of 1.05 and more.
const changed = 0.05

var sink uint64 // keeps the loop of fixedWork

// fixedWork returns the time of a loop that only depends on the clock of a core: the minimum of
// several runs, because load only makes a run longer.
func fixedWork() time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 7 {
		start := time.Now()
		x := sink
		for range 10_000_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		sink = x
		least = min(least, time.Since(start))
	}
	return least
}

// clock describes how the clock changed while a suite ran.
func clock(before, after time.Duration) string {
	change := float64(after-before) / float64(before)
	text := fmt.Sprintf("clock: the same loop took %.2f ms before the suite, and %.2f ms after it (%+.1f %%)",
		before.Seconds()*1000, after.Seconds()*1000, change*100)
	if math.Abs(change) > changed {
		text += ": run the suite again"
	}
	return text
}
