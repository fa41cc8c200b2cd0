package gobind

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestExportsAllocateNothingAndStayInGo(t *testing.T) {
	skipSanitized(t)
	data := make([]float32, 24)
	o := dlpack.ExportOptions{Shape: []int64{4, 3}, Strides: []int64{1, 4}, Offset: 2, Flags: dlpack.FlagReadOnly}
	legacy := dlpack.ExportOptions{Shape: []int64{24}}
	for name, exchange := range map[string]func(){
		"Export":     func() { Consume(must(dlpack.Export(data, 2, 3, 4))(t)) },
		"one":        func() { Consume(must(dlpack.Export(data))(t)) },
		"ExportWith": func() { Consume(must(dlpack.ExportWith(data, o))(t)) },
		"ExportLegacy": func() {
			ConsumeLegacy(must(dlpack.ExportLegacy(data, legacy))(t))
		},
	} {
		exchange()
		assert.Zero(t, testing.AllocsPerRun(100, exchange), name)
		assert.Equal(t, int64(100), crossings(100, exchange), "%s: only the consumer's calls are crossings", name)
	}
}

// Slots keep their slices pinned until they are unpinned later. This must not mix them up.
func TestSlotsChangeTheirSlices(t *testing.T) {
	var all [3][]int64
	for i := range all {
		all[i] = []int64{int64(i), 10 * int64(i)}
	}
	for round := range 200 {
		for i := range all[:1+round%3] {
			m, err := dlpack.Import(must(dlpack.Export(all[i]))(t))
			require.NoError(t, err)
			if round%7 == 0 {
				runtime.GC()
			}
			values, err := dlpack.Data[int64](m.Tensor())
			require.NoError(t, err)
			require.Same(t, &all[i][0], &values[0])
			m.Release()
		}
	}
}

// The collector frees a released slice independently of the slot's history: repeated exports of one
// slice, other slices, or C memory.
func TestEverySlotIsSwept(t *testing.T) {
	var freed []*atomic.Bool
	for round := range 4 {
		for range 50 {
			data, gone := watched()
			freed = append(freed, gone)
			for range 1 + round {
				Consume(must(dlpack.Export(data))(t))
			}
			Consume(must(dlpack.Export([]byte{1}))(t))
		}
		b := alloc[int8](t, 1)
		one, other := must(b.Export())(t), must(b.Export())(t)
		Consume(one)
		Consume(other)
	}
	assert.True(t, collectUntil(func() bool { return areFreed(freed) }))
}

func areFreed(freed []*atomic.Bool) bool {
	return !slices.ContainsFunc(freed, func(gone *atomic.Bool) bool { return !gone.Load() })
}

// Slots that consumers release while a Drain has removed the free slots are unpinned by the next
// Drain.
func TestDrainsMeetReleases(t *testing.T) {
	rounds := 5
	if testing.Short() || raced || sanitized {
		rounds = 3
	} else if tier.IsNightly() {
		rounds = 20
	}
	before := dlpack.Drain()
	spare := make([]*dlpack.DLManagedTensorVersioned, 20_000)
	for i := range spare {
		spare[i] = must(dlpack.Export([]byte{1}))(t)
	}
	for range rounds {
		var freed []*atomic.Bool
		var all []*dlpack.DLManagedTensorVersioned
		for range 300 {
			p, gone := exportWatched(t)
			all, freed = append(all, p), append(freed, gone)
		}
		for _, p := range spare { // slows Drain down
			Consume(p)
		}
		var released atomic.Bool
		go func() {
			for _, p := range all {
				Consume(p)
				time.Sleep(time.Microsecond)
			}
			released.Store(true)
		}()
		for !released.Load() {
			dlpack.Drain()
		}
		dlpack.Drain()
		assert.True(t, collectUntil(func() bool { return areFreed(freed) }))
		for i := range spare {
			spare[i] = must(dlpack.Export([]byte{1}))(t)
		}
	}
	for _, p := range spare {
		Consume(p)
	}
	assert.Equal(t, before, dlpack.Drain(), "and no slot is lost")
}

// crossings returns the number of calls into C: the minimum of several attempts, because the
// garbage collector may cause calls.
func crossings(runs int, run func()) int64 {
	least := int64(math.MaxInt64)
	for range 5 {
		before := runtime.NumCgoCall()
		for range runs {
			run()
		}
		least = min(least, runtime.NumCgoCall()-before)
	}
	return least
}

func TestManyTensorsAtOnce(t *testing.T) {
	n := 100_000
	if testing.Short() || raced || sanitized {
		n = 5_000
	}
	before := dlpack.Drain()
	data := make([]int32, 4)
	all := make([]*dlpack.DLManagedTensorVersioned, n)
	seen := make(map[*dlpack.DLManagedTensorVersioned]bool, n)
	for i := range all {
		all[i] = must(dlpack.Export(data, 2, 2))(t)
		seen[all[i]] = true
	}
	assert.Len(t, seen, n, "each is a struct of its own")
	assert.Equal(t, before+n, dlpack.Drain())
	rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	ConsumeOnThreads(all, 4)
	assert.Equal(t, before, dlpack.Drain())
}

// soaker is one goroutine of the soak: it has some tensors, and repeatedly ends a random one and
// creates another.
type soaker struct {
	mark  int64
	held  []*dlpack.DLManagedTensorVersioned
	hooks *atomic.Int64 // rounds to run
	b     *dlpack.Buffer[int64]
}

func (s *soaker) make() (*dlpack.DLManagedTensorVersioned, error) {
	data := []int64{s.mark, s.mark + 1, s.mark + 2, s.mark + 3}
	switch rand.IntN(5) {
	case 0:
		s.hooks.Add(1)
		return dlpack.ExportWith(data, dlpack.ExportOptions{OnRelease: func() { s.hooks.Add(-1) }})
	case 1:
		return s.b.Export()
	case 2:
		shape := []int64{2, 1, 1, 1, 1, 1, 1, 1, 1, 2}
		return dlpack.ExportWith(data, dlpack.ExportOptions{Shape: shape})
	case 3:
		b, err := dlpack.Alloc[int64](4)
		if err != nil {
			return nil, err
		}
		defer b.Release()
		copy(b.Slice(), data)
		return b.ExportWith(dlpack.ExportOptions{Shape: []int64{2, 2}})
	default:
		return dlpack.Export(data, 4)
	}
}

// end reads a tensor back, and releases it here or on a C thread.
func (s *soaker) end(t *testing.T, p *dlpack.DLManagedTensorVersioned) {
	m, err := dlpack.Import(p)
	if !assert.NoError(t, err) {
		return
	}
	values, err := dlpack.Data[int64](m.Tensor())
	assert.NoError(t, err)
	assert.Equal(t, []int64{s.mark, s.mark + 1, s.mark + 2, s.mark + 3}, values)
	if rand.IntN(4) != 0 {
		m.Release()
		return
	}
	p, _ = m.Detach()
	ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{p}, 1)
}

func (s *soaker) run(t *testing.T, rounds int) {
	for range rounds {
		p, err := s.make()
		if !assert.NoError(t, err) {
			return
		}
		s.held = append(s.held, p)
		if len(s.held) > 40 {
			i := rand.IntN(len(s.held))
			s.end(t, s.held[i])
			s.held[i] = s.held[len(s.held)-1]
			s.held = s.held[:len(s.held)-1]
		}
	}
	for _, p := range s.held {
		s.end(t, p)
	}
}

// Everything concurrently for a long time, while the garbage collector runs and other goroutines
// drain.
func TestSoakOfEveryKind(t *testing.T) {
	rounds := 2_000
	if tier.IsNightly() {
		rounds = 20_000
	}
	if testing.Short() || raced || sanitized {
		rounds = 500
	}
	before, trapped := dlpack.Drain(), dlpack.DoubleReleases()
	var hooks atomic.Int64
	var soakers, others sync.WaitGroup
	stop := make(chan struct{})
	for _, disturb := range []func(){runtime.GC, func() { dlpack.Drain(); time.Sleep(time.Millisecond) }} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					disturb()
				}
			}
		})
	}
	for mark := range int64(4) {
		soakers.Go(func() {
			s := &soaker{mark: mark * 1000, hooks: &hooks}
			s.b, _ = dlpack.Alloc[int64](4)
			defer s.b.Release()
			copy(s.b.Slice(), []int64{s.mark, s.mark + 1, s.mark + 2, s.mark + 3})
			s.run(t, rounds)
		})
	}
	soakers.Wait()
	close(stop)
	others.Wait()
	assert.Equal(t, before, dlpack.Drain())
	assert.Zero(t, hooks.Load())
	assert.Equal(t, trapped, dlpack.DoubleReleases())
}
