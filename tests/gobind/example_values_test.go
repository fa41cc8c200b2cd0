package gobind_test

import (
	"errors"
	"fmt"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// take exports and imports a slice, like a consumer in the same process; the examples have no other
// producer.
func take[T dlpack.Element](data []T, o dlpack.ExportOptions) *dlpack.Managed {
	p, err := dlpack.ExportWith(data, o)
	if err != nil {
		fmt.Println(err)
		return nil
	}
	m, err := dlpack.Import(p)
	if err != nil {
		fmt.Println(err)
	}
	return m
}

func ExampleData() {
	m := take([]float32{1, 2, 3, 4, 5, 6}, dlpack.ExportOptions{Shape: []int64{2, 3}})
	defer m.Release()
	values, err := dlpack.Data[float32](m.Tensor())
	fmt.Println(values, err)
	_, err = dlpack.Data[float64](m.Tensor())
	fmt.Println(errors.Is(err, dlpack.ErrDataType), err)
	// Output:
	// [1 2 3 4 5 6] <nil>
	// true dlpack: unsuitable data type: elements are float32, requested float64
}

func ExampleWritableData() {
	memory := []int32{1, 2, 3}
	m := take(memory, dlpack.ExportOptions{})
	defer m.Release()
	values, err := dlpack.WritableData[int32](m.Tensor())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range values {
		values[i] *= 10
	}
	fmt.Println(memory) // the tensor is this memory
	// Output: [10 20 30]
}

func ExampleAt() {
	m := take([]float64{1, 2, 3, 4, 5, 6}, dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{1, 3}})
	defer m.Release()
	corner, err := dlpack.At[float64](m.Tensor(), 2, 1)
	fmt.Println(corner, err)
	_, err = dlpack.At[float64](m.Tensor(), 0, 2)
	fmt.Println(err)
	// Output:
	// 6 <nil>
	// dlpack: index out of range: indices [0 2] in shape [3 2]
}

func ExampleSetAt() {
	memory := make([]dlpack.Float16, 4)
	m := take(memory, dlpack.ExportOptions{Shape: []int64{2, 2}})
	defer m.Release()
	err := dlpack.SetAt(m.Tensor(), dlpack.Float16From(1.5), 1, 0)
	fmt.Println(memory, err)
	// Output: [0 0 1.5 0] <nil>
}

func ExampleRuns() {
	// Two columns of three elements of a matrix with four columns.
	matrix := []int64{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}
	m := take(matrix, dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{4, 1}, Offset: 1})
	defer m.Release()
	runs, err := dlpack.Runs[int64](m.Tensor())
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := int64(0)
	for row := range runs {
		fmt.Println(row)
		for _, v := range row {
			sum += v
		}
	}
	fmt.Println(sum)
	// Output:
	// [1 2]
	// [11 12]
	// [21 22]
	// 69
}

func ExampleWritableRuns() {
	matrix := make([]uint8, 9)
	m := take(matrix, dlpack.ExportOptions{Shape: []int64{2, 2}, Strides: []int64{3, 1}, Offset: 4})
	defer m.Release()
	runs, err := dlpack.WritableRuns[uint8](m.Tensor())
	for row := range runs {
		row[0], row[1] = 1, 2
	}
	fmt.Println(matrix[:3], matrix[3:6], matrix[6:], err)
	// Output: [0 0 0] [0 1 2] [0 1 2] <nil>
}

func ExampleFloat16From() {
	x := dlpack.Float16From(0.1)
	fmt.Printf("%v is %#04x, or exactly %v\n", x, uint16(x), x.Float32())
	fmt.Println(dlpack.Float16From(1e6), dlpack.Float16Saturated(1e6))
	// Output:
	// 0.1 is 0x2e66, or exactly 0.099975586
	// +Inf 65500
}

func ExampleFloat8E4M3FNFrom() {
	for _, v := range []float32{0.3, 17, 449, 1000} {
		fmt.Println(dlpack.Float8E4M3FNFrom(v), dlpack.Float8E4M3FNSaturated(v))
	}
	// Output:
	// 0.3125 0.3125
	// 16 16
	// 448 448
	// NaN 448
}

func ExampleDataTypeOf() {
	fmt.Println(dlpack.DataTypeOf[float32](), dlpack.DataTypeOf[int](), dlpack.DataTypeOf[dlpack.BFloat16](),
		dlpack.DataTypeOf[dlpack.Int4]())
	// Output: float32 int64 bfloat16 int4
}

func ExampleTensor_Format() {
	values := make([]float64, 1200)
	for i := range values {
		values[i] = float64(i) / 3
	}
	m := take(values, dlpack.ExportOptions{Shape: []int64{60, 20}, Flags: dlpack.FlagReadOnly})
	defer m.Release()
	fmt.Printf("%.1f\n", m.Tensor())
	// Output:
	// float64[60 20] on CPU:0
	// [[  0.0   0.3   0.7 ...   5.7   6.0   6.3]
	//  [  6.7   7.0   7.3 ...  12.3  12.7  13.0]
	//  [ 13.3  13.7  14.0 ...  19.0  19.3  19.7]
	//  ...
	//  [380.0 380.3 380.7 ... 385.7 386.0 386.3]
	//  [386.7 387.0 387.3 ... 392.3 392.7 393.0]
	//  [393.3 393.7 394.0 ... 399.0 399.3 399.7]]
}

func ExampleTensor_IsFContiguous() {
	m := take(make([]int8, 6), dlpack.ExportOptions{Shape: []int64{2, 3}, Strides: []int64{1, 2}})
	defer m.Release()
	t := m.Tensor()
	fmt.Println(t.IsContiguous(), t.IsFContiguous(), t.Stride(1), t.NBytes())
	// Output: false true 2 6
}

func ExampleDataType_Alignment() {
	fmt.Println(dlpack.DataTypeOf[float64]().Alignment(), dlpack.DataTypeOf[complex128]().Alignment())
	// Output: 8 8
}
