// Command go-torch is a Python module written in Go: softmax over the rows of a
// matrix, in place, on the memory of a torch tensor, a NumPy array or whatever
// else takes part in DLPack. There is no C in it.
package main

import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack/dlpackpy"
)

var module = dlpackpy.Module{
	Name: "gotorch",
	Doc:  "Softmax in Go.",
	Functions: []dlpackpy.Function{
		{Name: "softmax_", Params: []string{"x"}, Doc: "Softmax over the rows of a float32 matrix, in place.",
			Call: softmax},
	},
}

//export PyInit_gotorch
func PyInit_gotorch() unsafe.Pointer { return module.Init() }

func main() {}

func softmax(call *dlpackpy.Call) (any, error) {
	x, err := call.Tensor(0)
	if err != nil {
		return nil, err
	}
	if x.NDim() != 2 {
		return nil, &dlpackpy.Exception{Type: "ValueError",
			Message: fmt.Sprintf("the tensor has %d dimensions, not 2", x.NDim())}
	}
	values, err := dlpack.WritableData[float32](x)
	if err != nil {
		return nil, err
	}
	call.WithoutGIL(func() { softmaxRows(values, int(x.Shape()[1])) })
	return call.Object(0), nil
}

// softmaxRows gives each processor a block of rows.
func softmaxRows(values []float32, columns int) {
	if len(values) == 0 {
		return
	}
	rows := len(values) / columns
	block := (rows + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var working sync.WaitGroup // its goroutines must not panic: only this one's panics become exceptions
	for part := range slices.Chunk(values, block*columns) {
		working.Go(func() {
			for row := range slices.Chunk(part, columns) {
				softmaxRow(row)
			}
		})
	}
	working.Wait()
}

func softmaxRow(row []float32) {
	largest := slices.Max(row)
	sum := float32(0)
	for i, x := range row {
		e := exp(x - largest)
		row[i] = e
		sum += e
	}
	scale := 1 / sum
	for i := range row {
		row[i] *= scale
	}
}
