package main

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// exported retains exports until C deletes them.
type exported []uintptr

func (l exported) add(i int, p *dlpack.DLManagedTensorVersioned) { l[i] = uintptr(unsafe.Pointer(p)) }

func (l exported) deleteAll(n int) { deleteAll(l[:n]) }

// exports are the pairs for the calls of a producer in Go. The consumers' calls are not timed here.
func exports() []pair.Pair {
	return []pair.Pair{exportBuffers(), exportShared(), exportPinned(), exportAgain()}
}

func bareSlots() *bareList {
	list := newBareList(threaded)
	if list == nil {
		must(fmt.Errorf("no memory for slots"))
		return nil
	}
	list.pins = make([]runtime.Pinner, threaded)
	return list
}

func exportBuffers() pair.Pair {
	var buffers [chunk]*dlpack.Buffer[float32]
	for i := range buffers {
		b, err := dlpack.Alloc[float32](2, 3)
		must(err)
		buffers[i] = b
	}
	bare, out := bareBuffers(chunk), make(exported, chunk)
	return pair.Pair{Name: "export", Limit: floor, What: "Buffer.Export, no pin",
		Than: "an atomic add, the struct, in Go",
		Ours: pair.Chunks(chunk, nil, func(n int) {
			for i, b := range buffers[:n] {
				p, err := b.Export()
				must(err)
				out.add(i, p)
			}
		}, out.deleteAll),
		Bare: pair.Chunks(chunk, nil, func(n int) {
			for i, b := range bare[:n] {
				p := b.export()
				check(p != nil, "export")
				out.add(i, p)
			}
		}, out.deleteAll)}
}

func exportShared() pair.Pair {
	b, err := dlpack.Alloc[float32](2, 3)
	must(err)
	first, err := b.Export() // takes the data of one consumer
	must(err)
	check(first != nil, "Buffer.Export")
	list, out, shared := bareSlots(), make(exported, chunk), bareBuffers(1)[0]
	return pair.Pair{Name: "export-shared", Limit: floor, What: "Buffer.Export, not the first",
		Than: "an atomic add, a slot, the struct, in Go",
		Ours: pair.Chunks(chunk, nil, func(n int) {
			for i := range n {
				p, err := b.Export()
				must(err)
				out.add(i, p)
			}
		}, out.deleteAll),
		Bare: pair.Chunks(chunk, nil, func(n int) {
			for i := range n {
				p := list.exportShared(shared)
				check(p != nil, "export")
				out.add(i, p)
			}
		}, out.deleteAll)}
}

// exportPinned exports a different slice each time, so that each slot must pin.
func exportPinned() pair.Pair {
	var sets [2][chunk][]float32
	for i := range sets {
		for j := range sets[i] {
			sets[i][j] = make([]float32, 6)
		}
	}
	turn, list, out := 0, bareSlots(), make(exported, chunk)
	swap := func(int) { turn ^= 1 }
	return pair.Pair{Name: "export-pin", Limit: floor, What: "Export, another slice",
		Than: "a slot, Unpin, Pin, the struct, in Go",
		Ours: pair.Chunks(chunk, swap, func(n int) {
			for i, s := range sets[turn][:n] {
				p, err := dlpack.Export(s, 2, 3)
				must(err)
				out.add(i, p)
			}
		}, out.deleteAll),
		Bare: pair.Chunks(chunk, swap, func(n int) {
			for i, s := range sets[turn][:n] {
				p := list.exportPinned(s, 2, 3)
				check(p != nil, "export")
				out.add(i, p)
			}
		}, out.deleteAll)}
}

// exportAgain exports a slice that is already pinned.
func exportAgain() pair.Pair {
	data := make([]float32, 6)
	list, out := bareSlots(), make(exported, chunk)
	return pair.Pair{Name: "export-again", Limit: floor, What: "Export, the same slice",
		Than: "a slot, the struct, in Go",
		Ours: pair.Chunks(chunk, nil, func(n int) {
			for i := range n {
				p, err := dlpack.Export(data, 2, 3)
				must(err)
				out.add(i, p)
			}
		}, out.deleteAll),
		Bare: pair.Chunks(chunk, nil, func(n int) {
			for i := range n {
				p := list.export(data, 2, 3)
				check(p != nil, "export")
				out.add(i, p)
			}
		}, out.deleteAll)}
}

// deleters are the pairs for the deleter calls of a consumer in C.
func deleters() []pair.Pair {
	data, list, out := make([]float32, 6), bareSlots(), make(exported, threaded)
	ours := func(n int) {
		for i := range n {
			p, err := dlpack.Export(data, 2, 3)
			must(err)
			out.add(i, p)
		}
	}
	bare := func(n int) {
		for i := range n {
			out.add(i, list.export(data, 2, 3))
		}
	}
	const than = "an atomic push, in C"
	return []pair.Pair{
		{Name: "deleter", Limit: floor, What: "deleter, on Go's thread", Than: than,
			Ours: pair.Chunks(chunk, ours, out.deleteAll, nil), Bare: pair.Chunks(chunk, bare, out.deleteAll, nil)},
		{Name: "deleter-thread", Limit: floor, What: "deleter, on a thread of C", Than: than,
			Ours: out.onThread(ours), Bare: out.onThread(bare)},
	}
}

func (l exported) onThread(fill func(n int)) pair.Work {
	return func(n int) (total time.Duration) {
		for left := n; left > 0; left -= threaded {
			count := min(left, threaded)
			fill(count)
			took := deleteAllOnThread(l[:count])
			check(took >= 0, "pthread_create")
			total += took
		}
		return total
	}
}
