// Command kernels calls axpy and softmax from Go. cgo compiles kernels_impl.c beside it.
package main

// #cgo CFLAGS: -I${SRCDIR}/generated/c -I${SRCDIR}/generated/kernels
// #cgo LDFLAGS: -lm
import "C"

import (
	"errors"
	"fmt"
	"log"

	"example.com/kernels/generated/go/dlpack"
	"example.com/kernels/generated/go/dlpack/kernels"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	x, err := dlpack.TensorOf([]float32{0, 1, 2, 3, 3, 3}, 2, 3)
	if err != nil {
		return err
	}
	y, err := kernels.SoftmaxNew(x)
	if err != nil {
		return err
	}
	defer y.Release()
	if err := kernels.Axpy(kernels.Float(2), x, y.Tensor()); err != nil {
		return err
	}
	values, err := dlpack.Data[float32](y.Tensor())
	if err != nil {
		return err
	}
	short, err := dlpack.TensorOf(make([]float32, 3))
	if err != nil {
		return err
	}
	var wrong *kernels.KernelError
	if !errors.As(kernels.Axpy(kernels.Float(2), x, short), &wrong) {
		return errors.New("a short vector was accepted")
	}
	fmt.Printf("go: softmax and axpy give %.4f; %s: %s\n", values[:3], wrong.Class, wrong.Message)
	return nil
}
