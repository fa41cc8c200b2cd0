// Command kernels calls the kernels from Go, and prints its line of the table. cgo compiles
// kernels_impl.c beside it.
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

// calls has a tensor for each argument, and the first error.
type calls struct {
	x, weight, idx, bad dlpack.Tensor
	err                 error
}

func run() error {
	values := []float32{0, 1, 2, 3, 3, 3, 1, -1}
	c := calls{}
	c.x = tensor(&c, values, 2, 4)
	c.weight = tensor(&c, []float32{1, 2, 0.5, 1})
	c.idx, c.bad = tensor(&c, []int64{1, 0, 1}), tensor(&c, []int64{2})
	if c.err != nil {
		return c.err
	}
	fmt.Printf("%-14s%9.3f%9.3f%9.3f%13.3f%9.3f", "Go",
		digest[float32](&c)(kernels.RmsNormNew(c.x, c.weight, kernels.RmsNormOptions{})),
		digest[float32](&c)(kernels.SoftmaxNew(c.x)),
		digest[float32](&c)(kernels.GatherNew(c.x, c.idx)), digest[float32](&c)(kernels.SiluAndMulNew(c.x)),
		digest[float64](&c)(kernels.NormNew(c.x)))
	var wrong *kernels.KernelError
	if _, err := kernels.GatherNew(c.x, c.bad); !errors.As(err, &wrong) {
		return errors.New("a bad index was accepted")
	}
	if err := kernels.Scale(c.x, kernels.ScaleOptions{By: kernels.Some(3.0)}); err != nil {
		return err
	}
	fmt.Printf("%9.3f  %s\n", sum(values), wrong.Class)
	return c.err
}

func tensor[T dlpack.Element](c *calls, values []T, shape ...int64) dlpack.Tensor {
	t, err := dlpack.TensorOf(values, shape...)
	c.err = errors.Join(c.err, err)
	return t
}

// digest gives one number for a result, and releases it.
func digest[T float32 | float64](c *calls) func(*dlpack.Managed, error) float64 {
	return func(made *dlpack.Managed, err error) float64 {
		if err != nil {
			c.err = errors.Join(c.err, err)
			return 0
		}
		defer made.Release()
		values, err := dlpack.Data[T](made.Tensor())
		c.err = errors.Join(c.err, err)
		return sum(values)
	}
}

// sum adds the elements, each times its place.
func sum[T float32 | float64](values []T) (all float64) {
	for i, value := range values {
		all += float64(i+1) * float64(value)
	}
	return all
}
