// Package pair times two ways to do the same work beside each other, so that
// what slows the machine down slows both. It knows nothing of the work.
package pair

import (
	"flag"
	"runtime"
	"time"
)

// Work does something n times, and tells how long that took. What it prepares
// and clears up lies outside of that time.
type Work func(n int) time.Duration

// Pair is work as we do it, and the least that must be done for it.
type Pair struct {
	Name string // of the goal
	What string // ours, in words
	Than string // the other, in words
	Ours Work
	Bare Work

	Limit float64 // of ours over the other; 0 where nothing is promised
}

// Result is what the rounds of a pair took, in nanoseconds for each time, and
// how many objects ours took from Go's heap each time.
type Result struct {
	Name, What, Than string
	Limit            float64
	Ours, Bare       []float64
	Allocs           float64
}

// Flags defines the flags of a program that measures pairs: how often each half runs, and for how
// long.
func Flags() (rounds *int, slice *time.Duration) {
	return flag.Int("rounds", 100, "how often each half of each pair runs"),
		flag.Duration("slice", time.Millisecond, "how long each of them takes")
}

// Ratios gives ours over the other, round by round.
func (r Result) Ratios() (all []float64) {
	for i, ours := range r.Ours {
		all = append(all, ours/r.Bare[i])
	}
	return all
}

// Loop makes Work of a function that is all of it.
func Loop(run func(n int)) Work {
	return func(n int) time.Duration {
		start := time.Now()
		run(n)
		return time.Since(start)
	}
}

// Chunks makes Work of a function that cannot go on for ever: it is timed for at
// most size times, between prepare and finish, either of which may be nil.
func Chunks(size int, prepare, run, finish func(n int)) Work {
	return func(n int) (total time.Duration) {
		for left := n; left > 0; left -= size {
			count := min(left, size)
			if prepare != nil {
				prepare(count)
			}
			start := time.Now()
			run(count)
			total += time.Since(start) - clock
			if finish != nil {
				finish(count)
			}
		}
		return max(total, 0)
	}
}

// clock is what it costs to look at the clock, at best.
var clock = func() time.Duration {
	least := time.Hour
	for range 1000 {
		start := time.Now()
		least = min(least, time.Since(start))
	}
	return least
}()

// warm is how often ours is done before it is measured, at the least: what it takes
// from the heap to begin with does not count.
const warm = 1 << 13

// Measure times the pairs in turn, round after round, so that each round has a
// ratio of its own. In each, the other is timed twice between two times of ours,
// since what comes first may be quicker or slower for that alone. Each of them
// takes about as long as slice.
func Measure(pairs []Pair, rounds int, slice time.Duration) []Result {
	results := make([]Result, len(pairs))
	counts := make([]int, len(pairs))
	for i, p := range pairs {
		results[i] = Result{Name: p.Name, What: p.What, Than: p.Than, Limit: p.Limit}
		counts[i] = fitting(p.Bare, slice)
		p.Ours(max(counts[i], warm))
		results[i].Allocs = allocs(p.Ours, max(counts[i], warm)) // so many that the runtime's own do not count
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

// fitting tells how often the work must be done to take about that long.
func fitting(w Work, slice time.Duration) int {
	const most = 1 << 24
	for n := 64; ; n *= 2 {
		if w(n) >= slice || n >= most {
			return n
		}
	}
}

// allocs counts the objects for each time, rounded down as testing.AllocsPerRun
// does: the runtime takes a few for itself now and then.
func allocs(w Work, n int) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w(n)
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / uint64(n))
}
