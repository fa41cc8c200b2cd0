// Command called compares calls of a described kernel from Go with the bare crossing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/bench/pair"

	"example.com/called/author"
	dlpack "example.com/called/generated/go/dlpack"
	"example.com/called/generated/go/dlpack/kernels"
)

func main() {
	rounds := flag.Int("rounds", 100, "how often each half runs")
	slice := flag.Duration("slice", time.Millisecond, "how long each of them takes")
	flag.Parse()
	debug.SetGCPercent(-1)
	if err := run(*rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "called:", err)
		os.Exit(2)
	}
}

func run(rounds int, slice time.Duration) error {
	var tensors [3]dlpack.Tensor
	for i := range tensors {
		made, err := dlpack.TensorOf(make([]float32, 16))
		if err != nil {
			return err
		}
		tensors[i] = made
	}
	a, b, c := tensors[0], tensors[1], tensors[2]
	var failed error
	ours := func(n int) {
		for range n {
			if err := kernels.Nop(a, b, c); err != nil {
				failed = err
			}
		}
	}
	x, y, z := uintptr(unsafe.Pointer(a.Raw())), uintptr(unsafe.Pointer(b.Raw())), uintptr(unsafe.Pointer(c.Raw()))
	bare := func(n int) {
		for range n {
			author.Bare(x, y, z)
		}
	}
	results := pair.Measure([]pair.Pair{{Name: "call", What: "kernels.Nop", Than: "bare crossing",
		Ours: pair.Loop(ours), Bare: pair.Loop(bare)}}, rounds, slice)
	runtime.KeepAlive(tensors)
	if failed != nil {
		return failed
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}
