package gobind_test

import (
	"fmt"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// int4s is a tensor of five int4 numbers, created in C: 1, -2, 3, 4, 5.
func int4s() (dlpack.Tensor, func()) {
	f := gobind.NewForeign()
	f.Reshape([]int64{5}, []int64{1})
	f.Versioned().DLTensor.DType = dlpack.DTypeInt4
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&f.Data()[0])), 3)
	copy(memory, []byte{0xe1, 0x43, 0x05})
	m, err := dlpack.Import(f.Versioned())
	if err != nil {
		fmt.Println(err)
	}
	return m.Tensor(), func() { m.Release(); f.Free() }
}

func ExamplePackedData() {
	tensor, done := int4s()
	defer done()
	packed, err := dlpack.PackedData[dlpack.Int4](tensor)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, v := range packed.All() {
		fmt.Print(i, ":", v.Int(), " ")
	}
	fmt.Printf("in %d bytes\n", tensor.NBytes())
	// Output: 0:1 1:-2 2:3 3:4 4:5 in 3 bytes
}

func ExampleWritablePackedData() {
	tensor, done := int4s()
	defer done()
	packed, err := dlpack.WritablePackedData[dlpack.Int4](tensor)
	if err != nil {
		fmt.Println(err)
		return
	}
	packed.Set(4, dlpack.Int4From(-8))
	fmt.Println(tensor)
	// Output: int4[5] on CPU:0 [ 1 -2  3  4 -8]
}

func ExamplePacked_Unpack() {
	tensor, done := int4s()
	defer done()
	packed, err := dlpack.PackedData[dlpack.Int4](tensor)
	values := make([]dlpack.Int4, packed.Len())
	packed.Unpack(values)
	fmt.Println(values, err)
	// Output: [1 -2 3 4 5] <nil>
}

func ExampleFromBits() {
	v := dlpack.FromBits[dlpack.Float4E2M1FN](0b0111)
	fmt.Println(v, v.Float32() == 6)
	// Output: 6 true
}
