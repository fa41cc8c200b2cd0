// Package pair times two implementations of the same work in turn, so that a slower machine affects
// both. It is independent of the work.
package pair

import (
	"flag"
	"runtime"
	"time"
)

// Work runs n times and returns its time, without preparation and cleanup.
type Work func(n int) time.Duration

// Pair is our implementation, and a minimal one.
type Pair struct {
	Name string // of the goal
	What string // our implementation, in words
	Than string // the other implementation, in words
	Ours Work
	Bare Work

	Limit float64 // maximum ratio of ours to the other; 0: no goal
}

// Result contains the times of a pair's rounds, in nanoseconds per call, and our allocations per
// call on Go's heap.
type Result struct {
	Name, What, Than string
	Limit            float64
	Ours, Bare       []float64
	Allocs           float64
}

// Flags defines the flags of a program that measures pairs: the number and the duration of runs.
func Flags() (rounds *int, slice *time.Duration) {
	return flag.Int("rounds", 100, "how often each half of each pair runs"),
		flag.Duration("slice", time.Millisecond, "how long each of them takes")
}

// Ratios returns ours divided by the other, by round.
func (r Result) Ratios() (all []float64) {
	for i, ours := range r.Ours {
		all = append(all, ours/r.Bare[i])
	}
	return all
}

// Loop converts a function to Work.
func Loop(run func(n int)) Work {
	return func(n int) time.Duration {
		start := now()
		run(n)
		return now().Sub(start)
	}
}

// Chunks converts a function that cannot run indefinitely to Work: at most size calls are timed
// between prepare and finish, either of which may be nil.
func Chunks(size int, prepare, run, finish func(n int)) Work {
	return func(n int) (total time.Duration) {
		for left := n; left > 0; left -= size {
			count := min(left, size)
			if prepare != nil {
				prepare(count)
			}
			start := now()
			run(count)
			total += now().Sub(start) - clock
			if finish != nil {
				finish(count)
			}
		}
		return max(total, 0)
	}
}

// now reads the clock.
var now = time.Now

// clock is the minimum time of reading the clock.
var clock = func() time.Duration {
	least := time.Hour
	for range 1000 {
		start := now()
		least = min(least, now().Sub(start))
	}
	return least
}()

// warm is the minimum number of unmeasured calls at the beginning, because initial allocations do
// not count.
const warm = 1 << 13

// Measure times the pairs in turn, in rounds, so that each round has its own ratio. In each round,
// the other implementation is timed twice between two times of ours, because the position may
// affect the speed. Each measurement takes about the duration of slice.
func Measure(pairs []Pair, rounds int, slice time.Duration) []Result {
	results := make([]Result, len(pairs))
	counts := make([]int, len(pairs))
	for i, p := range pairs {
		results[i] = Result{Name: p.Name, What: p.What, Than: p.Than, Limit: p.Limit}
		counts[i] = fitting(p.Bare, slice)
		p.Ours(max(counts[i], warm))
		results[i].Allocs = allocs(p.Ours, max(counts[i], warm)) // so many that allocations of the runtime do not count
	}
	for range rounds {
		for i, p := range pairs {
			ours := p.Ours(counts[i])
			bare := p.Bare(counts[i])
			bare += p.Bare(counts[i])
			ours += p.Ours(counts[i])
			results[i].add(ours, bare, 2*counts[i])
		}
	}
	return results
}

func (r *Result) add(ours, bare time.Duration, n int) {
	r.Ours = append(r.Ours, float64(ours)/float64(n))
	r.Bare = append(r.Bare, float64(bare)/float64(n))
}

// fitting returns the number of calls that take about the given time.
func fitting(w Work, slice time.Duration) int {
	const most = 1 << 24
	for n := 64; ; n *= 2 {
		if w(n) >= slice || n >= most {
			return n
		}
	}
}

// allocs counts the allocations per call, rounded down like testing.AllocsPerRun, because the
// runtime itself sometimes allocates.
func allocs(w Work, n int) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w(n)
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / uint64(n))
}
