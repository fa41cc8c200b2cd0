package main

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

const (
	chunk = 64  // tensors that are exported at a time; few, so that they fit in caches
	batch = 256 // tensors that are released at a time

	threaded = 1024 // tensors that are deleted by a new thread, whose creation is slow
)

// imports are the pairs for the calls of a consumer in Go.
func imports() []pair.Pair {
	p := managed(1)[0]
	return []pair.Pair{
		{Name: "crossing", What: "Go into C and back", Than: "the same",
			Ours: pair.Loop(crossing), Bare: pair.Loop(crossing)},
		{Name: "import", Limit: floor, What: "Init: import, validate", Than: "the same tests, in Go",
			Ours: pair.Loop(func(n int) {
				for range n {
					var m dlpack.Managed
					must(m.Init(p))
				}
			}),
			Bare: pair.Loop(func(n int) {
				for range n {
					var m bareManaged
					check(m.init(p), "init")
				}
			})},
		{Name: "import-c", What: "Init: import, validate", Than: "a crossing, the same tests, in C",
			Ours: pair.Loop(func(n int) {
				for range n {
					var m dlpack.Managed
					must(m.Init(p))
				}
			}),
			Bare: pair.Loop(func(n int) {
				for range n {
					check(importInC(p), "init")
				}
			})},
		importRelease(p), batched(), released(), data(p),
	}
}

func importRelease(p *dlpack.DLManagedTensorVersioned) pair.Pair {
	return pair.Pair{Name: "import-release", Limit: floor, What: "Init, Release",
		Than: "the tests, a crossing, the deleter",
		Ours: pair.Loop(func(n int) {
			for range n {
				var m dlpack.Managed
				must(m.Init(p))
				m.Release()
			}
		}),
		Bare: pair.Loop(func(n int) {
			for range n {
				var m bareManaged
				check(m.init(p), "init")
				deleteOne(m.address)
			}
		})}
}

// batched releases many tensors of one owner.
func batched() pair.Pair {
	tensors := managed(batch)
	var owner dlpack.Batch
	addresses := make([]uintptr, batch)
	for i, p := range tensors {
		addresses[i] = uintptr(unsafe.Pointer(p))
	}
	return pair.Pair{Name: "release-batch", Limit: floor, What: "Batch.Release, a tensor",
		Than: "a crossing for all, the deleter",
		Ours: pair.Chunks(batch, func(n int) {
			for _, p := range tensors[:n] {
				_, err := owner.Import(p)
				must(err)
			}
		}, func(int) { owner.Release() }, nil),
		Bare: pair.Chunks(batch, nil, func(n int) { deleteAll(addresses[:n]) }, nil)}
}

// released releases tensors with separate owners, each of which must release exactly once even with
// concurrent threads.
func released() pair.Pair {
	tensors := managed(batch)
	var owners [batch]dlpack.Managed
	var bare [batch]bareManaged
	list := make([]uintptr, 0, batch)
	var all []*dlpack.Managed
	for i := range owners {
		all = append(all, &owners[i])
	}
	return pair.Pair{Name: "release-all", Limit: floor, What: "ReleaseAll, a tensor",
		Than: "an atomic swap, a crossing for all, the deleter",
		Ours: pair.Chunks(batch, func(n int) {
			for i, p := range tensors[:n] {
				must(owners[i].Init(p))
			}
		}, func(n int) { dlpack.ReleaseAll(all[:n]...) }, nil),
		Bare: pair.Chunks(batch, func(n int) {
			for i, p := range tensors[:n] {
				check(bare[i].init(p), "init")
			}
		}, func(n int) {
			list = list[:0]
			for i := range bare[:n] {
				if address := atomic.SwapUintptr(&bare[i].address, 0); address != 0 {
					list = append(list, address)
				}
			}
			deleteAll(list)
		}, nil)}
}

func data(p *dlpack.DLManagedTensorVersioned) pair.Pair {
	var m dlpack.Managed
	must(m.Init(p))
	t := m.Tensor()
	var read float32 // prevents the compiler from removing reads
	return pair.Pair{Name: "data", Limit: floor, What: "Data[float32]", Than: "the struct, read in Go",
		Ours: pair.Loop(func(n int) {
			for range n {
				values, err := dlpack.Data[float32](t)
				must(err)
				read = values[5]
			}
			runtime.KeepAlive(&read)
		}),
		Bare: pair.Loop(func(n int) {
			for range n {
				values := bareData(&p.DLTensor)
				check(values != nil, "data")
				read = values[5]
			}
			runtime.KeepAlive(&read)
		})}
}
