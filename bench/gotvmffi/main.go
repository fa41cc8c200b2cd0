// Command gotvmffi compares a call of a tvm-ffi kernel from Go with one crossing into C with
// arguments packed by hand. It prints the results as JSON, which the suite "callers" of bench
// reads. LIBRARY contains the kernel nop with three tensors.
package main

/*
#include <stdint.h>

struct any {
	int32_t index;
	uint32_t size;
	uint64_t bits;
};

struct reply {
	struct any result;
	int64_t status;
};

static struct reply by_hand(uintptr_t function, uintptr_t a, uintptr_t b, uintptr_t c) {
	const struct any args[3] = { { 7, 0, a }, { 7, 0, b }, { 7, 0, c } };
	struct reply reply = { { 0, 0, 0 }, 0 };
	reply.status = ((int (*)(void *, const struct any *, int32_t, struct any *))function)(0, args, 3, &reply.result);
	return reply;
}
*/
import "C"

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack/tvmffi"
)

func main() {
	rounds, slice := pair.Flags()
	flag.Parse()
	debug.SetGCPercent(-1)
	library, err := tvmffi.Open(os.Getenv("LIBRARY"))
	must(err)
	nop, err := library.Func("nop")
	must(err)
	symbol := nop.Symbol()
	var x [3]dlpack.Tensor
	for i := range x {
		x[i], err = dlpack.TensorOf(make([]float32, 16))
		must(err)
	}
	results := pair.Measure([]pair.Pair{{Name: "go", Limit: 1.1, What: "Func.Call of 3 tensors",
		Than: "a crossing, packed by hand in C",
		Ours: pair.Loop(func(n int) {
			for range n {
				if _, err := nop.Call(tvmffi.Tensor(x[0]), tvmffi.Tensor(x[1]), tvmffi.Tensor(x[2])); err != nil {
					must(err)
				}
			}
		}),
		Bare: pair.Loop(func(n int) {
			for range n {
				reply := C.by_hand(C.uintptr_t(symbol), address(x[0]), address(x[1]), address(x[2]))
				if reply.status != 0 || reply.result.index != 0 {
					must(errFailed)
				}
			}
		})}}, *rounds, *slice)
	must(json.NewEncoder(os.Stdout).Encode(results))
}

var errFailed = errors.New("a call by hand failed, or returned a result")

// address checks the properties that a tvm-ffi function cannot check.
func address(t dlpack.Tensor) C.uintptr_t {
	if t.Raw() == nil || t.IsReadOnly() {
		must(errFailed)
	}
	return C.uintptr_t(uintptr(unsafe.Pointer(t.Raw())))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotvmffi:", err)
		os.Exit(2)
	}
}
