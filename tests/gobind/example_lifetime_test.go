package gobind_test

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// must ends an example with an error: its output then differs.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println(err)
	}
	return value
}

func ExampleImport() {
	f := gobind.NewForeign() // in C: two rows of three float32
	defer f.Free()
	m, err := dlpack.Import(f.Versioned())
	if err != nil {
		fmt.Println(err) // the tensor is already deleted
		return
	}
	defer m.Release()
	t := m.Tensor()
	fmt.Println(t.DataType(), t.Shape(), t.Strides(), t.Device(), t.Flags(), t.IsReadOnly(), t.IsPadded())
	fmt.Println(t.Addr() == f.Addr())
	// Output:
	// float32 [2 3] [3 1] CPU:0 0 false false
	// true
}

func ExampleImport_rejected() {
	f := gobind.NewForeign()
	defer f.Free()
	f.Versioned().Version.Major = 2
	_, err := dlpack.Import(f.Versioned())
	fmt.Println(errors.Is(err, dlpack.ErrVersion), f.Deleted())
	// Output: true 1
}

func ExampleImportLegacy() {
	f := gobind.NewForeign()
	defer f.Free()
	m, err := dlpack.ImportLegacy(f.Legacy())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = dlpack.WritableData[float32](m.Tensor())
	fmt.Println(errors.Is(err, dlpack.ErrReadOnly)) // because the struct cannot declare that it is writable
	_, err = dlpack.WritableData[float32](m.WritableTensor())
	fmt.Println(err)
	m.SetReadOnly()
	fmt.Println(m.WritableTensor().IsReadOnly())
	fmt.Println(m.Close(), f.Deleted())
	// Output:
	// true
	// <nil>
	// true
	// <nil> 1
}

func ExampleBorrowTensor() {
	f := gobind.NewForeign() // owned elsewhere: nothing is released here
	defer f.Free()
	t, err := dlpack.BorrowTensor(&f.Legacy().DLTensor, dlpack.FlagReadOnly)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(must(dlpack.Data[float32](t))), t.Shape(), f.Deleted())
	_, err = dlpack.BorrowTensor(nil, 0)
	fmt.Println(errors.Is(err, dlpack.ErrArgument))
	// Output:
	// 6 [2 3] 0
	// true
}

func ExampleManaged() {
	f := gobind.NewForeign()
	defer f.Free()
	var call struct{ x, y dlpack.Managed } // no allocation for them
	if err := errors.Join(call.x.Init(f.Versioned()), call.y.InitLegacy(f.Legacy())); err != nil {
		fmt.Println(err)
		return
	}
	passed, _ := call.x.Detach() // to another consumer, which now owns it
	call.y.Release()
	call.y.Release() // without effect
	fmt.Println(passed == f.Versioned(), f.Deleted())
	// Output: true 1
}

func ExampleReleaseAll() {
	f := gobind.NewForeign()
	defer f.Free()
	x, y := must(dlpack.Import(f.Versioned())), must(dlpack.ImportLegacy(f.Legacy()))
	dlpack.ReleaseAll(x, y, nil)
	fmt.Println(f.Deleted())
	// Output: 2
}

func ExampleBatch() {
	f := gobind.NewForeign()
	defer f.Free()
	var b dlpack.Batch
	x, y := must(b.Import(f.Versioned())), must(b.ImportLegacy(f.Legacy()))
	fmt.Println(b.Len(), x.Shape(), y.Shape())
	fmt.Println(b.Close(), f.Deleted())
	// Output:
	// 2 [2 3] [2 3]
	// <nil> 2
}

func ExampleExport() {
	p, err := dlpack.Export([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	gobind.Consume(p) // in C, which calls the deleter
	_, err = dlpack.Export([]float32{1, 2, 3}, 2, 2)
	fmt.Println(errors.Is(err, dlpack.ErrShape))
	// Output: true
}

func ExampleExportWith() {
	p := must(dlpack.ExportWith([]int16{1, 2, 3, 4, 5, 6}, dlpack.ExportOptions{
		Shape: []int64{3}, Strides: []int64{-2}, Offset: 5, // every second element, reversed
		Flags:     dlpack.FlagReadOnly,
		OnRelease: func() { fmt.Println("released") },
	}))
	m := must(dlpack.Import(p))
	fmt.Printf("%v %t\n", m.Tensor(), m.Tensor().IsReadOnly())
	m.Release()
	// Output:
	// int16[3] on CPU:0 [6 4 2] true
	// released
}

func ExampleExportLegacy() {
	p := must(dlpack.ExportLegacy([]uint8{1, 2}, dlpack.ExportOptions{}))
	gobind.ConsumeLegacy(p)
	_, err := dlpack.ExportLegacy([]uint8{1, 2}, dlpack.ExportOptions{Flags: dlpack.FlagReadOnly})
	fmt.Println(errors.Is(err, dlpack.ErrReadOnly))
	// Output: true
}

func ExampleExportPacked() {
	p := must(dlpack.ExportPacked[dlpack.Int4]([]byte{0xe1, 0x43, 0x05}, 5))
	m := must(dlpack.Import(p))
	defer m.Release()
	packed := must(dlpack.PackedData[dlpack.Int4](m.Tensor()))
	for _, v := range packed.All() {
		fmt.Print(v.Int(), " ")
	}
	fmt.Printf("%#x", packed.Bytes())
	// Output: 1 -2 3 4 5 0xe14305
}

func ExampleExportPackedWith() {
	data := make([]byte, 3)
	m := must(dlpack.Import(must(dlpack.ExportPackedWith[dlpack.Uint4](data,
		dlpack.ExportOptions{Flags: dlpack.FlagIsSubbyteTypePadded}))))
	defer m.Release()
	packed := must(dlpack.WritablePackedData[dlpack.Uint4](m.Tensor()))
	packed.Pack([]dlpack.Uint4{dlpack.Uint4From(7), dlpack.Uint4From(8), dlpack.Uint4From(15)})
	fmt.Println(data, packed.At(2).Uint())
	// Output: [7 8 15] 15
}

func ExampleAlloc() {
	b, err := dlpack.Alloc[float64](2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(b.Slice(), []float64{1, 2, 3, 4})
	x := must(dlpack.Import(must(b.Export())))
	y := must(dlpack.Import(must(b.ExportWith(dlpack.ExportOptions{Shape: []int64{4}}))))
	z := must(dlpack.ImportLegacy(must(b.ExportLegacy(dlpack.ExportOptions{}))))
	fmt.Println(b.Close(), b.Slice()) // the tensors keep the memory
	fmt.Println(must(dlpack.Data[float64](x.Tensor())), y.Tensor().AsReadOnly().IsReadOnly(), z.Tensor().Shape())
	dlpack.ReleaseAll(x, y, z)
	// Output:
	// <nil> []
	// [1 2 3 4] true [2 2]
}

func ExampleDrain() {
	before := dlpack.Drain()
	p := must(dlpack.Export(make([]byte, 16)))
	fmt.Println(dlpack.Drain() - before)
	gobind.Consume(p)
	fmt.Println(dlpack.Drain() - before) // and the slice is no longer pinned
	// Output:
	// 1
	// 0
}

func ExampleLeaks() {
	for _, leak := range dlpack.Leaks() { // none, except in a build with the tag dlpackdebug
		fmt.Println(leak)
	}
	// Output:
}

func ExampleObjectRelease() {
	f := gobind.NewForeign()
	defer f.Free()
	object := must(dlpack.NewObject(must(dlpack.Import(f.Versioned()))))
	release := dlpack.ObjectRelease() // for C, which receives both
	fmt.Println(release != unsafe.Pointer(nil))
	object.Release()
	fmt.Println(f.Deleted())
	// Output:
	// true
	// 1
}

func ExampleDeviceType() {
	for _, d := range []dlpack.DeviceType{dlpack.DeviceCPU, dlpack.DeviceCUDA, dlpack.DeviceOpenCL} {
		fmt.Println(d, d.HostReadable(), d.Opaque(), d.IDIsZero())
	}
	// Output:
	// CPU true false true
	// CUDA false false false
	// OpenCL false true false
}

func ExampleBoolFrom() {
	m := take([]dlpack.Bool{dlpack.BoolFrom(true), 0, 7}, dlpack.ExportOptions{})
	defer m.Release()
	for _, v := range must(dlpack.Data[dlpack.Bool](m.Tensor())) {
		fmt.Print(v.Value(), " ")
	}
	// Output: true false true
}

func ExampleComplex32From() {
	fmt.Println(dlpack.Complex32From(1.5 + 2i).Complex64())
	// Output: (1.5+2i)
}

func ExampleInt4From() {
	v := dlpack.Int4From(-3)
	fmt.Printf("%d %#x\n", v.Int(), v.Bits())
	// Output: -3 0xd
}

func ExampleUint4From() {
	fmt.Println(dlpack.Uint4From(13).Uint())
	// Output: 13
}
