//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack_test

import (
	"errors"
	"fmt"

	dlpack "dlpackgen.invalid/dlpack"
)

// padded creates a 3 by 4 matrix with a row stride of 6 elements, like a producer in C.
func padded() (*dlpack.Managed, error) {
	memory := make([]float64, 18)
	for i := range memory {
		memory[i] = float64(i)
	}
	pointer, err := dlpack.ExportWith(memory, dlpack.ExportOptions{Shape: []int64{3, 4}, Strides: []int64{6, 1}})
	if err != nil {
		return nil, err
	}
	return dlpack.Import(pointer)
}

// Exports a tensor to a consumer, which reads it and calls its deleter.
func Example() {
	pointer, err := dlpack.Export([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	managed, err := dlpack.Import(pointer)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer managed.Release()
	values, err := dlpack.Data[float32](managed.Tensor())
	fmt.Println(managed.Tensor().Shape(), values, err)
	// Output: [2 3] [1 2 3 4 5 6] <nil>
}

// Multiplies a matrix whose rows have gaps by a vector, in place, with a leading dimension as in
// BLAS. With gonum, the matrix is
//
//	blas64.General{Rows: rows, Cols: columns, Stride: int(strides[0]), Data: data}
//
// and with a BLAS in C, it is (*C.double)(t.Pointer()), with int(strides[0]) as its lda.
func ExampleStrided() {
	managed, err := padded()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer managed.Release()
	t := managed.Tensor()
	data, strides, err := dlpack.Strided[float64](t)
	if err != nil || strides[1] != 1 {
		fmt.Println("not a matrix with contiguous rows:", err)
		return
	}
	rows, columns, lda := int(t.Shape()[0]), int(t.Shape()[1]), int(strides[0])
	vector := []float64{1, 10, 100, 1000}
	for i := range rows {
		sum := 0.0
		for j, x := range data[i*lda:][:columns] {
			sum += x * vector[j]
		}
		fmt.Println(sum)
	}
	// Output:
	// 3210
	// 9876
	// 16542
}

func ExampleWritableStrided() {
	managed, err := padded()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer managed.Release()
	data, strides, err := dlpack.WritableStrided[float64](managed.Tensor())
	if err != nil {
		fmt.Println(err)
		return
	}
	data[2*strides[0]+3*strides[1]] = -1
	fmt.Println(managed.Tensor())
	managed.SetReadOnly()
	_, _, err = dlpack.WritableStrided[float64](managed.Tensor())
	fmt.Println(errors.Is(err, dlpack.ErrReadOnly))
	// Output:
	// float64[3 4] on CPU:0
	// [[ 0  1  2  3]
	//  [ 6  7  8  9]
	//  [12 13 14 -1]]
	// true
}

func ExampleTensorOf() {
	t, err := dlpack.TensorOf([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(t, err)
	_, err = dlpack.TensorOf([]int32{1, 2, 3}, 2, 3)
	fmt.Println(err)
	// Output:
	// int32[2 3] on CPU:0
	// [[1 2 3]
	//  [4 5 6]] <nil>
	// dlpack: invalid shape or strides: shape [2 3] has 6 elements, the slice has 3
}

// Copies a matrix with gaps to a slice without gaps.
func ExampleCopy() {
	managed, err := padded()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer managed.Release()
	values := make([]float64, managed.Tensor().Len())
	t, err := dlpack.TensorOf(values, managed.Tensor().Shape()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = dlpack.Copy[float64](t, managed.Tensor())
	fmt.Println(values, err)
	// Output: [0 1 2 3 6 7 8 9 12 13 14 15] <nil>
}

func ExampleTensor_Pointer() {
	values := []float64{1, 2, 3}
	t, err := dlpack.TensorOf(values)
	fmt.Println((*float64)(t.Pointer()) == &values[0], err)
	fmt.Println(dlpack.Tensor{}.Pointer())
	// Output:
	// true <nil>
	// <nil>
}
