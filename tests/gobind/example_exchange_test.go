package gobind_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// opened is a table with an object, as a C library would provide them: without Python, the examples
// take tensors of two rows of three float32 from it.
func opened() (dlpack.ExchangeAPI, gobind.UntrustedProducer) {
	api, err := dlpack.FindExchangeAPI(&gobind.NewStrangeTable().Header)
	if err != nil {
		fmt.Println(err)
	}
	return api, gobind.NewUntrustedProducer()
}

func ExampleFindExchangeAPI() {
	table := gobind.NewStrangeTable() // from a capsule "dlpack_exchange_api"
	api, err := dlpack.FindExchangeAPI(&table.Header)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(api.Raw().Header.Version)

	table.Header.Version.Major = 2
	_, err = dlpack.FindExchangeAPI(&table.Header)
	fmt.Println(errors.Is(err, dlpack.ErrVersion))
	// Output:
	// 1.3
	// true
}

func ExampleExchangeAPI_Borrow() {
	api, s := opened()
	defer s.Free()
	var view dlpack.View // keep it, and reuse it for the next object
	if err := api.Borrow(&view, s.Object()); err != nil {
		fmt.Println(err)
		return
	}
	defer view.Release()
	values, err := dlpack.Data[float32](view.Tensor())
	fmt.Println(values, err)
	// Output: [0 1 2 3 4 5] <nil>
}

func ExampleExchangeAPI_BorrowAll() {
	api, a := opened()
	b := gobind.NewUntrustedProducer()
	defer a.Free()
	defer b.Free()
	views := make([]dlpack.View, 2) // of the caller, for all its calls
	if err := api.BorrowAll(views, a.Object(), b.Object()); err != nil {
		fmt.Println(err)
		return
	}
	for i := range views {
		fmt.Println(views[i].Tensor().Shape(), "on stream", views[i].Stream())
		views[i].Release()
	}
	// Output:
	// [2 3] on stream 0
	// [2 3] on stream 0
}

func ExampleView() {
	api, s := opened()
	defer s.Free()
	view := new(dlpack.View)
	fmt.Println(view.Tensor().NDim())
	if err := api.Borrow(view, s.Object()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(view.Tensor().NDim(), view.Tensor().IsReadOnly(), view.WritableTensor().IsReadOnly())
	view.Release()
	fmt.Println(view.Tensor().NDim())
	// Output:
	// 0
	// 2 true false
	// 0
}

func ExampleExchangeAPI_FromPyObject() {
	api, s := opened()
	defer s.Free()
	var m dlpack.Managed
	if err := api.FromPyObject(&m, s.Object()); err != nil {
		fmt.Println(err)
		return
	}
	defer m.Release() // until then, the data stays valid, independently of the object
	fmt.Println(m.Tensor().DataType(), m.Tensor().Shape())
	// Output: float32 [2 3]
}

func ExampleExchangeAPI_ToPyObject() {
	table, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	if err != nil {
		fmt.Println(err)
		return
	}
	api, err := dlpack.FindExchangeAPI(&table.Header)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := take([]int32{1, 2, 3, 4}, dlpack.ExportOptions{Shape: []int64{2, 2}})
	object, err := api.ToPyObject(m) // m then no longer owns a tensor
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dlpack.Object(object).Release() // or the function that releases this table's objects
	var view dlpack.View
	fmt.Println(api.Borrow(&view, object), view.Tensor().Shape(), m.Tensor().Shape())
	// Output: <nil> [2 2] []
}

func ExampleExchangeAPI_Alloc() {
	api, s := opened()
	defer s.Free()
	var m dlpack.Managed
	if err := api.Alloc(&m, dlpack.DTypeFloat64, dlpack.Device{Type: dlpack.DeviceCPU}, 3, 2); err != nil {
		fmt.Println(err)
		return
	}
	defer m.Release()
	values, err := dlpack.WritableData[float64](m.Tensor())
	if err != nil {
		fmt.Println(err)
		return
	}
	clear(values)
	fmt.Println(len(values), m.Tensor().Shape())
	// Output: 6 [3 2]
}

func ExampleExchangeAPI_CurrentWorkStream() {
	api, s := opened()
	defer s.Free()
	stream, err := api.CurrentWorkStream(dlpack.Device{Type: dlpack.DeviceCUDA, ID: 1})
	fmt.Println(stream, err) // for example, to launch a kernel there
	// Output: 2001 <nil>
}

func ExampleExchangeAPI_Explained() {
	api, s := opened()
	defer s.Free()
	s.SetFails(-1)
	var view dlpack.View
	fmt.Println(api.Borrow(&view, s.Object()))
	// A C function that reads Python's error, for example.
	fmt.Println(api.Explained(gobind.ExplainPending()).Borrow(&view, s.Object()))
	// Output:
	// dlpack: dltensor_from_py_object_no_sync: it reported no reason
	// dlpack: dltensor_from_py_object_no_sync: BufferError: no view today
}

func ExampleExchangeAPI_Raw() {
	api, s := opened()
	defer s.Free()
	fmt.Println(api.Raw().Header.Version)
	// Output: 1.3
}

func ExampleCallError() {
	api, s := opened()
	defer s.Free()
	s.SetFails(-1)
	var m dlpack.Managed
	err := api.FromPyObject(&m, s.Object())
	var call *dlpack.CallError
	if errors.As(err, &call) {
		fmt.Println(call.Op)
	}
	fmt.Println(errors.Is(err, dlpack.ErrCall))
	// Output:
	// managed_tensor_from_py_object_no_sync
	// true
}

// The plain table: views and tensors of its objects never enter Go.
func ExampleNewExchangeAPI() {
	table, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	if err != nil {
		fmt.Println(err)
		return
	}
	object, err := dlpack.NewObject(take([]float32{1, 2, 3}, dlpack.ExportOptions{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer object.Release()
	view, rc := gobind.CallBorrow(table, uintptr(object)) // like a consumer in C
	fmt.Println(rc, view.NDim, view.DType)
	// Output: 0 1 float32
}

// streaming is a table with a hook in Go, created once, because it exists until the process ends.
var streaming, errStreaming = dlpack.NewExchangeAPI(dlpack.Producer{
	CurrentWorkStream: func(device dlpack.Device) (dlpack.Stream, error) {
		if device.Type != dlpack.DeviceCUDA {
			return 0, errors.New("only CUDA has streams here")
		}
		return 0x5eed, nil
	},
})

func ExampleProducer() {
	if errStreaming != nil {
		fmt.Println(errStreaming)
		return
	}
	api, err := dlpack.FindExchangeAPI(&streaming.Header)
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, err := api.CurrentWorkStream(dlpack.Device{Type: dlpack.DeviceCUDA})
	fmt.Printf("%#x %v\n", stream, err)
	_, rc := gobind.CallStream(streaming, dlpack.Device{Type: dlpack.DeviceROCM})
	fmt.Println(rc)
	// Output:
	// 0x5eed <nil>
	// -1
}

func ExampleNewObject() {
	object, err := dlpack.NewObject(take([]float32{1, 2, 3}, dlpack.ExportOptions{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	object.Retain() // for a second holder
	object.Release()
	fmt.Println(dlpack.Drain() > 0)
	object.Release() // the last one: the slice is no longer exported
	// Output: true
}

func ExamplePythonException() {
	fmt.Println(dlpack.PythonException(fmt.Errorf("f: %w", dlpack.ErrArgument)))
	fmt.Println(dlpack.PythonException(&dlpack.CallError{Op: "f", Kind: "KeyError"}))
	fmt.Println(dlpack.PythonException(io.EOF))
	// Output:
	// ValueError
	// KeyError
	// RuntimeError
}
