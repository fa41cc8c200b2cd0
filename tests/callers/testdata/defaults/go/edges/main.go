// Command tried prints the values that the kernels receive if Go omits all arguments.
package main

import (
	"fmt"

	_ "example.com/tried/author"
	"example.com/tried/dlpack"
	"example.com/tried/dlpack/kernels"
)

func main() {
	x, err := dlpack.TensorOf([]float64{1}, 1)
	show("edges")(kernels.EdgesNew(fine(x, err), kernels.EdgesOptions{}))
}

func fine[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func show(name string) func(*dlpack.Managed, error) {
	return func(z *dlpack.Managed, err error) {
		values, err := dlpack.Data[int64](fine(z, err).Tensor())
		fmt.Println(name, fine(values, err))
	}
}
