//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "export.h"
import "C"

import (
	"math/bits"
	"runtime"
	"structs"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	slotNDim   = C.dlp_00000000_SLOT_NDIM
	listCount  = C.dlp_00000000_LISTS
	numberBits = C.dlp_00000000_NUMBER_BITS
	numberMask = 1<<numberBits - 1

	firstSlab = 64                                    // slots; each further slab doubles what there is
	slabCount = numberBits - (6 /* log2 firstSlab */) // so that every number fits
)

// slot mirrors the C struct that a consumer gets. It holds no Go pointer.
type slot struct {
	_       structs.HostLayout
	managed DLManagedTensorVersioned // or a DLManagedTensor in its place
	next    uint32
	number  uint32
	list    uintptr
	origin  uintptr
	pinned  uintptr // what a slab's pins hold for it, also while it is free; or swept
	owner   uintptr
	extra   uintptr
	dims    [2 * slotNDim]int64 // shape, then strides
}

// swept marks a free slot that pins nothing, like all slots below it on its list.
const swept = 1

// The slot has the same layout in C; dlpack.h's structs have guards of their own.
func _() {
	var x [1]struct{}
	_ = x[unsafe.Sizeof(slot{})-C.sizeof_struct_dlp_00000000_slot]
	_ = x[unsafe.Offsetof(slot{}.next)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.next)]
	_ = x[unsafe.Offsetof(slot{}.number)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.number)]
	_ = x[unsafe.Offsetof(slot{}.list)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.list)]
	_ = x[unsafe.Offsetof(slot{}.origin)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.origin)]
	_ = x[unsafe.Offsetof(slot{}.pinned)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.pinned)]
	_ = x[unsafe.Offsetof(slot{}.owner)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.owner)]
	_ = x[unsafe.Offsetof(slot{}.extra)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.extra)]
	_ = x[unsafe.Offsetof(slot{}.dims)-unsafe.Offsetof(C.struct_dlp_00000000_slot{}.dims)]
}

// slab is a run of slots with Go's half of them.
type slab struct {
	list  *list
	first uint32 // number of slots[0]
	slots []slot // in C
	pins  []runtime.Pinner
}

// list is a stack of free slots: C memory that is used again, so that an export
// makes no call into C until there is none left. Deleters push in C; here they
// are popped, by one atomic operation.
type list struct {
	head  *uint64              // in C
	last  atomic.Pointer[slab] // the one that a slot was taken from, for a guess
	slabs [slabCount]atomic.Pointer[slab]
	count uint32 // of all slots, free or not; by exporter.mu
}

// exporter has all lists. More than one, so that goroutines seldom meet.
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
		l.head = (*uint64)(unsafe.Pointer(C.dlp_00000000_list(C.int(i))))
		l.last.Store(none)
	}
}

// near gives a list by the goroutine and by what is exported. Goroutines rarely
// meet there, since the address of a stack tells them apart for free. And a slice
// that is exported again finds the slot that has it pinned already.
func (e *exporter) near(object unsafe.Pointer) *list {
	var here byte
	goroutine := uintptr(unsafe.Pointer(&here)) >> 13
	return &e.lists[(goroutine*4+uintptr(object)>>6%4)%listCount]
}

// take gives a free slot, which has no other user then.
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
		return s, in, nil // a sweep had them all, or another goroutine made some
	}
	in := l.grow()
	if in == nil {
		return nil, nil, failf(ErrNoMemory, "no room for more than %d tensors", l.count)
	}
	if !e.armed {
		e.armed = true
		e.arm()
	}
	return &in.slots[0], in, nil
}

// arm makes the next garbage collection sweep: an object without a pointer to it
// has a cleanup that does it, and arms anew.
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
func DoubleReleases() uint64 { return uint64(C.dlp_00000000_trapped()) }

// slabOf tells which slab has a number: the first has 1 to firstSlab.
func slabOf(number uint32) int { return bits.Len32((number - 1) / firstSlab) }

func (l *list) at(number uint32) (*slot, *slab) {
	in := l.slabs[slabOf(number)].Load()
	return &in.slots[number-in.first], in
}

// pop takes a slot; nil where there is none.
func (l *list) pop() (*slot, *slab) {
	for {
		head := atomic.LoadUint64(l.head)
		if head&numberMask == 0 {
			return nil, nil
		}
		s, in := l.at(uint32(head & numberMask))
		below := atomic.LoadUint32(&s.next) // of no use if s is taken meanwhile
		if atomic.CompareAndSwapUint64(l.head, head, next(head, below)) {
			l.last.Store(in)
			return s, in
		}
	}
}

// popGuessed is pop where the slot is of the same slab as the last one, and nil
// where it is not. It is quicker, as it does not wait for the number to know where
// the slab is.
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

// next is a head after another one, with that slot on top.
func next(head uint64, number uint32) uint64 {
	return head&^numberMask + 1<<numberBits | uint64(number)
}

// grow adds a slab, of which the caller has the first slot, and the list the
// others; nil when memory is out.
func (l *list) grow() *slab {
	count := max(firstSlab, l.count)
	at := slabOf(l.count + 1)
	if at == slabCount {
		return nil
	}
	slots := C.dlp_00000000_new_slots((*C.uint64_t)(l.head), C.uint32_t(l.count+1), C.uint32_t(count))
	if slots == nil {
		return nil
	}
	in := &slab{
		list:  l,
		first: l.count + 1,
		slots: unsafe.Slice((*slot)(unsafe.Pointer(slots)), count),
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

// pushAll puts a chain of slots on the list.
func (l *list) pushAll(top, bottom *slot) {
	for {
		head := atomic.LoadUint64(l.head)
		atomic.StoreUint32(&bottom.next, uint32(head&numberMask))
		if atomic.CompareAndSwapUint64(l.head, head, next(head, top.number)) {
			return
		}
	}
}

// push puts back a slot that was taken in vain. What is below it may not be
// swept.
func (l *list) push(s *slot) {
	if s.pinned == swept {
		s.pinned = 0
	}
	l.pushAll(s, s)
}

// takeAll empties the list, and gives what was on top.
func (l *list) takeAll() (number uint32) {
	for {
		head := atomic.LoadUint64(l.head)
		if atomic.CompareAndSwapUint64(l.head, head, next(head, 0)) {
			return uint32(head & numberMask)
		}
	}
}

// sweep unpins what free slots pin.
func (l *list) sweep() { l.gather(l.unpinDownTo) }

// gather takes the list apart: visit gets what lies on an empty list, is to put
// it above rest, and gives what is on top then. It goes on until nothing was
// pushed meanwhile, since what is swept must never lie above what is not.
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

// unpinDownTo unpins a chain down to the first slot that was swept before, and
// gives the number on top of it all. The chain is what lay on top of an empty
// list, and is put above rest.
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

// countFree counts the slots on the list. Exports that go on meanwhile make the
// number less exact.
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

// pin holds an object for a slot. A slot that held the same one already, as when
// a slice is exported again and again, is done.
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
