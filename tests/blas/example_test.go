package blas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	openblas "github.com/dlpackgen/dlpackgen/tests/blas"
)

// matrix creates a matrix that counts from 1, with the given strides and with 99 in its gaps.
func matrix(rows, columns, down, right int64) dlpack.Tensor {
	memory := make([]float64, (rows-1)*down+(columns-1)*right+1)
	for i := range memory {
		memory[i] = 99
	}
	for i := range rows {
		for j := range columns {
			memory[i*down+j*right] = float64(i*columns + j + 1)
		}
	}
	pointer, err := dlpack.ExportWith(memory,
		dlpack.ExportOptions{Shape: []int64{rows, columns}, Strides: []int64{down, right}})
	if err != nil {
		return dlpack.Tensor{}
	}
	managed, err := dlpack.Import(pointer)
	if err != nil {
		return dlpack.Tensor{}
	}
	return managed.Tensor() // never released
}

// general returns a gonum matrix over the memory of a tensor with contiguous rows.
func general(t dlpack.Tensor) (blas64.General, error) {
	data, strides, err := dlpack.Strided[float64](t)
	if err != nil {
		return blas64.General{}, err
	}
	if len(strides) != 2 || strides[1] != 1 {
		return blas64.General{}, fmt.Errorf("not a matrix with contiguous rows: strides %v", strides)
	}
	return blas64.General{Rows: int(t.Shape()[0]), Cols: int(t.Shape()[1]), Stride: int(strides[0]), Data: data}, nil
}

// gonum reads a padded matrix in place.
func Example_gonum() {
	a, err := general(matrix(2, 3, 5, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	var dense mat.Dense
	dense.SetRawMatrix(a)
	fmt.Println(dense.At(1, 2), mat.Sum(&dense))
	y := blas64.Vector{N: 2, Data: make([]float64, 2), Inc: 1}
	blas64.Gemv(blas.NoTrans, 1, a, blas64.Vector{N: 3, Data: []float64{1, 10, 100}, Inc: 1}, 0, y)
	fmt.Println(y.Data)
	// Output:
	// 6 21
	// [321 654]
}

// OpenBLAS, called through cgo, multiplies a matrix with padded rows by a matrix with padded
// columns.
func ExampleMultiply() {
	result := make([]float64, 4)
	c, err := dlpack.TensorOf(result, 2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(openblas.Multiply(matrix(2, 3, 5, 1), matrix(3, 2, 1, 4), c), result)
	// Output: <nil> [22 28 49 64]
}
