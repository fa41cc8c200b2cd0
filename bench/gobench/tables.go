package main

import (
	"unsafe"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// tables are the pairs for exchange tables: of another library, called from Go, and of the
// bindings, called from C.
func tables() []pair.Pair {
	ours, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	must(err)
	var m dlpack.Managed
	must(m.Init(managed(1)[0]))
	made, err := dlpack.NewObject(&m)
	must(err)
	bare, theirs := bareTable(), bareObjects(1, dlpack.DeviceCPU)[0]
	const than = "the same, in C"
	return []pair.Pair{
		borrowThree(),
		{Name: "table-view", Limit: floor, What: "our table: view", Than: than,
			Ours: pair.Loop(callView(ours, uintptr(made))), Bare: pair.Loop(callView(bare, theirs))},
		{Name: "table-managed", Limit: floor, What: "our table: managed, deleter", Than: than,
			Ours: pair.Loop(callManaged(ours, uintptr(made))), Bare: pair.Loop(callManaged(bare, theirs))},
		{Name: "table-stream", Limit: floor, What: "our table: stream", Than: than,
			Ours: pair.Loop(callStream(ours)), Bare: pair.Loop(callStream(bare))},
	}
}

func borrowThree() pair.Pair {
	objects := bareObjects(3, dlpack.DeviceCUDA)
	a, b, c := objects[0], objects[1], objects[2]
	table := uintptr(unsafe.Pointer(bareTable()))
	api, err := dlpack.FindExchangeAPI(&bareTable().Header)
	must(err)
	views, bare := make([]dlpack.View, 3), newBareViews()
	return pair.Pair{Name: "borrow-3", Limit: floor, What: "BorrowAll of 3, stream",
		Than: "a crossing, the table's functions, the tests",
		Ours: pair.Loop(func(n int) {
			for range n {
				must(api.BorrowAll(views, a, b, c))
				check(views[2].Stream() == 1, "BorrowAll")
			}
		}),
		Bare: pair.Loop(func(n int) {
			for range n {
				check(bareBorrow(table, a, b, c, bare), "borrow")
				for i := range bare.tensors {
					check(good(&bare.tensors[i]), "view")
				}
				check(bare.stream == 1, "borrow")
			}
		})}
}
