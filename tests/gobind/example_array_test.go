//go:build go1.24 && !(386 || arm || mips || mipsle || wasm)

package gobind_test

import (
	"errors"
	"fmt"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

func ExampleNewArray() {
	a, err := dlpack.NewArray([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	a.Set(60, 1, 2)
	fmt.Println(a.Dim(0), a.Dim(-1), a.Get(1, 2), a.Data())
	// Output: 2 3 60 [1 2 3 4 5 60]
}

func ExampleArrayOf() {
	m := take([]float64{1, 2, 3, 4, 5, 6}, dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{1, 3}})
	defer m.Release()
	columns, err := dlpack.ArrayOf[float64](m.Tensor())
	fmt.Println(columns.Get(2, 1), columns.Data(), err)
	_, err = dlpack.ArrayOf[int64](m.Tensor())
	fmt.Println(errors.Is(err, dlpack.ErrDataType))
	// Output:
	// 6 [1 2 3 4 5 6] <nil>
	// true
}

func ExampleCheckedArray() {
	f := gobind.NewForeign() // another owner's tensor, which the caller has checked
	defer f.Free()
	a := dlpack.CheckedArray[float32](&f.Legacy().DLTensor, 0)
	absent := dlpack.CheckedArray[float32](nil, 0)
	fmt.Println(a.Dim(-1), a.IsAbsent(), absent.IsAbsent())
	// Output: 3 false true
}

func ExampleCheckedTensor() {
	f := gobind.NewForeign()
	defer f.Free()
	fmt.Println(dlpack.CheckedTensor(&f.Legacy().DLTensor, 0).Shape())
	// Output: [2 3]
}

func ExampleWithStatus() {
	singular := errors.New("the matrix is singular")
	err := dlpack.WithStatus(2, singular)
	fmt.Println(err, errors.Is(err, singular), dlpack.StatusOf(fmt.Errorf("solve: %w", err)))
	// Output: the matrix is singular true 2
}

func ExampleStatusOf() {
	fmt.Println(dlpack.StatusOf(errors.New("any other")), dlpack.StatusOf(nil))
	// Output: 0 0
}
