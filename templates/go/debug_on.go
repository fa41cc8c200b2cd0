//go:build ignore && cgo && dlpackdebug && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"cmp"
	"log"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// trace is the number of an object in alive, or 0 if the object owns nothing.
type trace struct{ number uint64 }

// alive contains everything that is not released yet. Slots are identified by their address,
// because their deleters in C have no other information.
var alive struct {
	mu     sync.Mutex
	last   uint64
	traces map[uint64]Leak
	slots  map[*slot]uint64
}

func enter(what string) uint64 {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	if alive.traces == nil {
		alive.traces, alive.slots = map[uint64]Leak{}, map[*slot]uint64{}
	}
	alive.last++
	alive.traces[alive.last] = Leak{what, string(debug.Stack())}
	return alive.last
}

func leave(number uint64) {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	delete(alive.traces, number)
}

// collected runs when the object is unreachable.
func collected(number uint64) {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	if leak, left := alive.traces[number]; left {
		log.Printf("dlpack: leak: %v", leak)
	}
}

func (m *Managed) track() {
	m.trace.number = enter("imported tensor")
	runtime.AddCleanup(m, collected, m.trace.number)
}

func (m *Managed) untrack() { leave(m.trace.number) }

func (b *Batch) track() {
	b.trace.number = enter("Batch")
	runtime.AddCleanup(b, collected, b.trace.number)
}

func (b *Batch) untrack() { leave(b.trace.number) }

func (b *share) track() {
	b.trace.number = enter("Buffer")
	runtime.AddCleanup(b, collected, b.trace.number)
}

func (b *share) untrack() { leave(b.trace.number) }

func (s *slot) track() {
	s.untrack() // the previous tensor of the slot
	number := enter("exported tensor")
	alive.mu.Lock()
	defer alive.mu.Unlock()
	alive.slots[s] = number
}

func (s *slot) untrack() {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	delete(alive.traces, alive.slots[s])
	delete(alive.slots, s)
}

func leaks() []Leak {
	Drain() // which untracks the slots that were released
	alive.mu.Lock()
	defer alive.mu.Unlock()
	var out []Leak
	for _, number := range slices.SortedFunc(maps.Keys(alive.traces), cmp.Compare[uint64]) {
		out = append(out, alive.traces[number])
	}
	return out
}
