//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math/bits"
	"runtime"
	"structs"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	numberMask = 1<<numberBits - 1

	firstSlab = 64                                    // slots; each further slab doubles the total
	slabCount = numberBits - (6 /* log2 firstSlab */) // so that every number fits
)

// slot mirrors the C struct for a consumer. It contains no Go pointer. cgo.go compares the two.
type slot struct {
	_       structs.HostLayout
	managed DLManagedTensorVersioned // or a DLManagedTensor in its place
	next    uint32
	number  uint32
	list    uintptr
	origin  uintptr
	pinned  uintptr // the pinned object, also while the slot is free; or swept
	owner   uintptr
	extra   uintptr
	dims    [2 * slotNDim]int64 // shape, then strides
}

// swept marks a free slot that pins nothing, like all slots below it on its list.
const swept = 1

// slab is an array of slots with Go's half of each.
type slab struct {
	list  *list
	first uint32 // number of slots[0]
	slots []slot // in C
	pins  []runtime.Pinner
}

// list is a stack of free slots: C memory that is reused, so that exports call C only if no slot is
// left. Deleters push slots in C. Go pops them with one atomic operation.
type list struct {
	head  *uint64              // in C
	last  atomic.Pointer[slab] // the slab of the last popped slot, as a guess
	slabs [slabCount]atomic.Pointer[slab]
	count uint32 // of all slots, free or not; by exporter.mu
}

// exporter contains all lists. There are several, so that goroutines rarely use the same one.
type exporter struct {
	lists [listCount]list
	mu    sync.Mutex // held to add slots and to sweep, not to export
	armed bool       // each garbage collection is followed by a sweep
}

var exports exporter

func init() {
	none := new(slab)
	for i := range exports.lists {
		l := &exports.lists[i]
		l.head = headOf(i)
		l.last.Store(none)
	}
}

// near selects a list by goroutine and by exported object. Goroutines rarely share a list, because
// stack addresses distinguish them at no cost. A slice that is exported again finds the slot that
// has already pinned it.
func (e *exporter) near(object unsafe.Pointer) *list {
	var here byte
	goroutine := uintptr(unsafe.Pointer(&here)) >> 13
	return &e.lists[(goroutine*4+uintptr(object)>>6%4)%listCount]
}

// take returns a free slot, which then has no other user.
func (e *exporter) take(object unsafe.Pointer) (*slot, *slab, error) {
	l := e.near(object)
	if s, in := l.popGuessed(); s != nil {
		return s, in, nil
	}
	if s, in := l.pop(); s != nil {
		return s, in, nil
	}
	return e.takeNew(l)
}

func (e *exporter) takeNew(l *list) (*slot, *slab, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, in := l.pop(); s != nil {
		return s, in, nil // a sweep held all of them, or another goroutine added some
	}
	in := l.grow()
	if in == nil {
		return nil, nil, failf(ErrNoMemory, "no memory for more than %d tensors", l.count)
	}
	if !e.armed {
		e.armed = true
		e.arm()
	}
	return &in.slots[0], in, nil
}

// arm makes the next garbage collection run a sweep: the cleanup of an unreachable object sweeps,
// and arms again.
func (e *exporter) arm() {
	runtime.AddCleanup(new(*exporter), (*exporter).collected, e)
}

func (e *exporter) collected() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.lists {
		e.lists[i].sweep()
	}
	e.arm()
}

// Drain unpins the slices of tensors that consumers have released, frees the memory that is kept
// for later Buffers, and returns the number of tensors that are not released yet. Exports and
// garbage collections also unpin slices. The time of a call is proportional to the largest number
// of tensors that ever existed at the same time.
func Drain() int {
	e := &exports
	e.mu.Lock()
	defer e.mu.Unlock()
	outstanding := 0
	for i := range e.lists {
		l := &e.lists[i]
		l.sweep()
		outstanding += int(l.count - l.countFree())
	}
	return outstanding + buffers.trim()
}

// DoubleReleases returns how often consumers have called the deleter of a tensor that was already
// released. Each such call is a bug of the consumer. It is detected only if the tensor's slot was
// not reused by another export.
func DoubleReleases() uint64 { return trapped() }

// slabOf returns the index of the slab with a slot number: the first one has 1 to firstSlab.
func slabOf(number uint32) int { return bits.Len32((number - 1) / firstSlab) }

func (l *list) at(number uint32) (*slot, *slab) {
	in := l.slabs[slabOf(number)].Load()
	return &in.slots[number-in.first], in
}

// pop removes and returns a slot, or nil if there is none.
func (l *list) pop() (*slot, *slab) {
	for {
		head := atomic.LoadUint64(l.head)
		if head&numberMask == 0 {
			return nil, nil
		}
		s, in := l.at(uint32(head & numberMask))
		below := atomic.LoadUint32(&s.next) // invalid if s is taken meanwhile
		if atomic.CompareAndSwapUint64(l.head, head, next(head, below)) {
			l.last.Store(in)
			return s, in
		}
	}
}

// popGuessed is pop for a slot of the same slab as the last one; otherwise it returns nil. It is
// faster, because it need not read the number to find the slab.
func (l *list) popGuessed() (*slot, *slab) {
	in := l.last.Load()
	for {
		head := atomic.LoadUint64(l.head)
		i := uint(uint32(head&numberMask) - in.first)
		if i >= uint(len(in.slots)) {
			return nil, nil
		}
		if s := &in.slots[i]; atomic.CompareAndSwapUint64(l.head, head, next(head, atomic.LoadUint32(&s.next))) {
			return s, in
		}
	}
}

// next returns the successor of a head, with that slot on top.
func next(head uint64, number uint32) uint64 {
	return head&^numberMask + 1<<numberBits | uint64(number)
}

// grow adds a slab. The caller receives the first slot, and the list the others. It returns nil if
// memory is exhausted.
func (l *list) grow() *slab {
	count := max(firstSlab, l.count)
	at := slabOf(l.count + 1)
	if at == slabCount {
		return nil
	}
	slots := newSlots(l.head, l.count+1, count)
	if slots == nil {
		return nil
	}
	in := &slab{
		list:  l,
		first: l.count + 1,
		slots: unsafe.Slice(slots, count),
		pins:  make([]runtime.Pinner, count),
	}
	l.slabs[at].Store(in)
	l.count += count
	for i := 1; i < len(in.slots)-1; i++ {
		in.slots[i].next = in.slots[i+1].number
	}
	l.pushAll(&in.slots[1], &in.slots[count-1])
	return in
}

// pushAll pushes a chain of slots.
func (l *list) pushAll(top, bottom *slot) {
	for {
		head := atomic.LoadUint64(l.head)
		atomic.StoreUint32(&bottom.next, uint32(head&numberMask))
		if atomic.CompareAndSwapUint64(l.head, head, next(head, top.number)) {
			return
		}
	}
}

// push returns an unused slot to the list. The slots below it may not be swept.
func (l *list) push(s *slot) {
	if s.pinned == swept {
		s.pinned = 0
	}
	l.pushAll(s, s)
}

// takeAll empties the list, and returns the previous top.
func (l *list) takeAll() (number uint32) {
	for {
		head := atomic.LoadUint64(l.head)
		if atomic.CompareAndSwapUint64(l.head, head, next(head, 0)) {
			return uint32(head & numberMask)
		}
	}
}

// sweep unpins the objects of free slots.
func (l *list) sweep() { l.gather(l.unpinDownTo) }

// gather removes all slots. It passes each chain to visit, which must place it above rest and
// return the new top. It continues until nothing was pushed meanwhile, because swept slots must
// never be above unswept ones.
func (l *list) gather(visit func(chain, rest uint32) (top uint32)) {
	top := uint32(0)
	for {
		top = visit(l.takeAll(), top)
		head := atomic.LoadUint64(l.head)
		if head&numberMask == 0 && atomic.CompareAndSwapUint64(l.head, head, next(head, top)) {
			return
		}
	}
}

// unpinDownTo unpins a chain down to the first slot that was swept before, and places it above
// rest. It returns the number of the top slot.
func (l *list) unpinDownTo(chain, rest uint32) (top uint32) {
	for number := chain; number != 0; {
		s, in := l.at(number)
		if s.pinned == swept {
			return chain
		}
		in.unpin(s)
		s.pinned = swept
		number = s.next
		if number == 0 {
			atomic.StoreUint32(&s.next, rest)
		}
	}
	if chain == 0 {
		return rest
	}
	return chain
}

// countFree counts the slots on the list. Concurrent exports make the number less exact.
func (l *list) countFree() (count uint32) {
	l.gather(func(chain, rest uint32) (top uint32) {
		if chain == 0 {
			return rest
		}
		for number := chain; number != 0; count++ {
			s, _ := l.at(number)
			s.untrack()
			number = s.next
			if number == 0 {
				atomic.StoreUint32(&s.next, rest)
			}
		}
		return chain
	})
	return count
}

// pin pins an object for a slot. If the slot already pins the same object, for example a slice that
// is exported repeatedly, there is nothing to do.
func (in *slab) pin(s *slot, object unsafe.Pointer) {
	if s.pinned == uintptr(object) {
		return
	}
	in.unpin(s)
	if object != nil {
		in.pins[s.number-in.first].Pin(object)
	}
	s.pinned = uintptr(object)
}

func (in *slab) unpin(s *slot) {
	if s.pinned > swept {
		in.pins[s.number-in.first].Unpin()
		s.pinned = 0
	}
}
