package pair

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noted is work with the given nanoseconds per call, which records that it ran.
func noted(each time.Duration, name string, into *[]string) Work {
	return func(n int) time.Duration {
		*into = append(*into, name)
		return time.Duration(n) * each
	}
}

func TestRoundsAreInTurnAndNeitherHalfIsAlwaysFirst(t *testing.T) {
	var ran []string
	pairs := []Pair{
		{Name: "a", What: "w", Than: "t", Limit: 1.1, Ours: noted(30, "a", &ran), Bare: noted(20, "A", &ran)},
		{Name: "b", Ours: noted(5, "b", &ran), Bare: noted(5, "B", &ran)},
	}
	results := Measure(pairs, 3, time.Microsecond)
	require.Len(t, results, 2)
	round := []string{"a", "A", "A", "a", "b", "B", "B", "b"}
	assert.Equal(t, append(round, round...), ran[len(ran)-16:])
	a := results[0]
	assert.Equal(t, Result{Name: "a", What: "w", Than: "t", Limit: 1.1, Ours: []float64{30, 30, 30},
		Bare: []float64{20, 20, 20}}, a)
	assert.Equal(t, []float64{1.5, 1.5, 1.5}, a.Ratios())
}

func TestBothHalvesTakeAboutASlice(t *testing.T) {
	var ran []string
	assert.Equal(t, 64, fitting(noted(time.Hour, "slow", &ran), time.Millisecond))
	assert.Equal(t, 1024, fitting(noted(1000, "quick", &ran), time.Millisecond))
	assert.Less(t, fitting(noted(0, "nothing", &ran), time.Millisecond), 1<<25, "it ends")
}

// stopped replaces the clock by one that only the returned function advances.
func stopped(t *testing.T) (advance func(time.Duration)) {
	at, real, least := time.Time{}, now, clock
	now, clock = func() time.Time { return at }, 0
	t.Cleanup(func() { now, clock = real, least })
	return func(d time.Duration) { at = at.Add(d) }
}

func TestChunksTimeOnlyTheWork(t *testing.T) {
	advance := stopped(t)
	var sizes []int
	rest := func(int) { advance(time.Hour) }
	run := func(n int) {
		sizes = append(sizes, n)
		advance(time.Duration(n) * time.Second)
	}
	assert.Equal(t, 10*time.Second, Chunks(4, rest, run, rest)(10))
	assert.Equal(t, []int{4, 4, 2}, sizes)
	assert.Equal(t, 8*time.Second, Chunks(4, nil, run, nil)(8))
	clock = time.Second // of each chunk
	assert.Equal(t, 6*time.Second, Chunks(4, nil, run, nil)(9), "three chunks")
}

func TestLoopTimesAllOfIt(t *testing.T) {
	advance := stopped(t)
	times := 0
	took := Loop(func(n int) { times = n; advance(2 * time.Second) })(7)
	assert.Equal(t, 7, times)
	assert.Equal(t, 2*time.Second, took)
}

var kept []*int

func TestObjectsAreCounted(t *testing.T) {
	objects := func(each int) Work {
		return Loop(func(n int) {
			kept = kept[:0]
			for range n * each {
				kept = append(kept[:0], new(int))
			}
		})
	}
	assert.Equal(t, 2.0, allocs(objects(2), 1000))
	assert.Equal(t, 0.0, allocs(objects(0), 1000))
}
