//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// testExchange calls the tables of the bindings through the bindings, like another package.
func testExchange(t *testing.T) {
	t.Run("Borrow", testBorrow)
	t.Run("Flags", testLoans)
	t.Run("Managed", testManaged)
	t.Run("Wrap", testWrap)
	t.Run("Alloc", testAlloc)
	t.Run("Panic", testPanic)
	t.Run("Versions", testTableVersions)
	t.Run("MissingFunctions", testMissingFunctions)
}

func newTable(t *testing.T) dlpack.ExchangeAPI {
	t.Helper()
	table := must[*dlpack.DLPackExchangeAPI](t)(dlpack.NewExchangeAPI(dlpack.Producer{}))
	return must[dlpack.ExchangeAPI](t)(dlpack.FindExchangeAPI(&table.Header))
}

func newObject(t *testing.T, s foreign) dlpack.Object {
	t.Helper()
	return must[dlpack.Object](t)(dlpack.NewObject(must[managed](t)(dlpack.Import(s.versioned()))))
}

func testBorrow(t *testing.T) {
	var foreigners [3]foreign
	var objects []uintptr
	for i := range foreigners {
		foreigners[i] = newForeign(t)
		objects = append(objects, uintptr(newObject(t, foreigners[i])))
	}
	views := make([]dlpack.View, len(objects))
	if err := newTable(t).BorrowAll(views, objects...); err != nil {
		t.Fatal(err)
	}
	for i, s := range foreigners {
		d := views[i].Tensor()
		equal(t, "address", d.Addr(), s.addr())
		equal(t, "data type", d.DataType(), dlpack.DataTypeOf[float32]())
		equalSlices(t, "shape", d.Shape(), []int64{2, 3})
		equalSlices(t, "strides", d.Strides(), []int64{3, 1})
		equal(t, "read-only, since nothing declares it writable", d.IsReadOnly(), true)
		equal(t, "read-only where the caller knows that it may be", views[i].WritableTensor().IsReadOnly(), false)
		equal(t, "stream", views[i].Stream(), 0)
		views[i].Release()
		equal(t, "nothing after Release", views[i].Tensor(), dlpack.Tensor{})
		equal(t, "deleters called", s.deleted(), 0)
		dlpack.Object(objects[i]).Release()
		equal(t, "deleters called", s.deleted(), 1)
	}
	rejected(t, "Borrow of no object", newTable(t).Borrow(&views[0], 0), dlpack.ErrArgument)
}

// testLoans expects that a tensor with flags is not borrowed, and is exported as a managed tensor.
func testLoans(t *testing.T) {
	for _, flags := range []dlpack.Flags{dlpack.FlagReadOnly, dlpack.FlagIsSubbyteTypePadded} {
		s := newForeign(t)
		s.versioned().Flags = flags
		object := newObject(t, s)
		var view dlpack.View
		var failure *dlpack.CallError
		if err := newTable(t).Borrow(&view, uintptr(object)); !errors.As(err, &failure) {
			t.Errorf("a tensor with flags %#x was lent: %v", flags, err)
		}
		var m dlpack.Managed
		if err := newTable(t).FromPyObject(&m, uintptr(object)); err != nil {
			t.Fatal(err)
		}
		equal(t, "flags", m.Tensor().Flags(), flags)
		m.Release()
		object.Release()
		equal(t, "deleters called", s.deleted(), 1)
	}
}

// testManaged expects the tensor to outlive its object.
func testManaged(t *testing.T) {
	s := newForeign(t)
	object := newObject(t, s)
	var m dlpack.Managed
	if err := newTable(t).FromPyObject(&m, uintptr(object)); err != nil {
		t.Fatal(err)
	}
	object.Release()
	equal(t, "deleters called", s.deleted(), 0)
	equal(t, "address", m.Tensor().Addr(), s.addr())
	m.Release()
	equal(t, "deleters called", s.deleted(), 1)
}

// testWrap expects the object to own its tensor.
func testWrap(t *testing.T) {
	s := newForeign(t)
	m := must[managed](t)(dlpack.Import(s.versioned()))
	object := must[uintptr](t)(newTable(t).ToPyObject(m))
	m.Release()
	equal(t, "deleters called", s.deleted(), 0)
	_, err := newTable(t).ToPyObject(m)
	rejected(t, "a second Wrap", err, dlpack.ErrReleased)
	dlpack.Object(object).Release()
	equal(t, "deleters called", s.deleted(), 1)
}

func testAlloc(t *testing.T) {
	cpu := dlpack.Device{Type: dlpack.DeviceCPU}
	var m dlpack.Managed
	if err := newTable(t).Alloc(&m, dlpack.DataTypeOf[float64](), cpu, 4, 5); err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	equalSlices(t, "shape", m.Tensor().Shape(), []int64{4, 5})
	data := must[[]float64](t)(dlpack.WritableData[float64](m.Tensor()))
	for i := range data {
		data[i] = float64(i)
	}
	equal(t, "elements", len(data), 20)
	equal(t, "stream", must[dlpack.Stream](t)(newTable(t).CurrentWorkStream(cpu)), 0)
}

// panicking is created once, because the number of tables is limited, and they exist until the
// process ends.
var panicking = sync.OnceValues(func() (*dlpack.DLPackExchangeAPI, error) {
	return dlpack.NewExchangeAPI(dlpack.Producer{
		Allocate: func(dlpack.DataType, dlpack.Device, []int64) (exported, error) {
			panic("of the allocator")
		},
		CurrentWorkStream: func(dlpack.Device) (dlpack.Stream, error) { panic("of the stream") },
	})
})

// testPanic expects C to receive a panic in Go as a failure.
func testPanic(t *testing.T) {
	table := must[*dlpack.DLPackExchangeAPI](t)(panicking())
	api := must[dlpack.ExchangeAPI](t)(dlpack.FindExchangeAPI(&table.Header))
	var m dlpack.Managed
	err := api.Alloc(&m, dlpack.DataTypeOf[int8](), dlpack.Device{Type: dlpack.DeviceCPU}, 1)
	var failure *dlpack.CallError
	if !errors.As(err, &failure) || !strings.Contains(failure.Message, "of the allocator") {
		t.Errorf("the allocator panicked, got %v", err)
	}
	if _, err = api.CurrentWorkStream(dlpack.Device{Type: dlpack.DeviceCUDA}); !errors.As(err, &failure) {
		t.Errorf("the stream panicked, got %v", err)
	}
}

// tables copies tables to C memory, where the prev_api of each points to the next.
func tables(s foreign, majors ...uint32) []*dlpack.DLPackExchangeAPI {
	all := make([]*dlpack.DLPackExchangeAPI, len(majors))
	previous := uintptr(0)
	for i := len(majors) - 1; i >= 0; i-- {
		all[i] = (*dlpack.DLPackExchangeAPI)(unsafe.Pointer(&s.bytes()[i*int(unsafe.Sizeof(*all[i]))]))
		*all[i] = dlpack.DLPackExchangeAPI{
			Header: dlpack.DLPackExchangeAPIHeader{Version: dlpack.Version{Major: majors[i]},
				PrevAPI: previous},
			ManagedTensorAllocator:          8,
			ManagedTensorFromPyObjectNoSync: 8,
			ManagedTensorToPyObjectNoSync:   8,
			DLTensorFromPyObjectNoSync:      8,
			CurrentWorkStream:               8,
		}
		previous = uintptr(unsafe.Pointer(all[i]))
	}
	return all
}

func testTableVersions(t *testing.T) {
	const ours, other = dlpack.MajorVersion, dlpack.MajorVersion + 1
	all := tables(newForeign(t), other, other+1, ours, ours)
	api := must[dlpack.ExchangeAPI](t)(dlpack.FindExchangeAPI(&all[0].Header))
	equal(t, "table", api.Raw(), all[2])

	all[1].Header.PrevAPI = 0
	_, err := dlpack.FindExchangeAPI(&all[0].Header)
	rejected(t, "a chain without our version", err, dlpack.ErrVersion)
	all[1].Header.PrevAPI = uintptr(unsafe.Pointer(all[0]))
	_, err = dlpack.FindExchangeAPI(&all[0].Header)
	rejected(t, "a ring", err, dlpack.ErrTable)
	_, err = dlpack.FindExchangeAPI(nil)
	rejected(t, "nil", err, dlpack.ErrArgument)
}

func testMissingFunctions(t *testing.T) {
	table := tables(newForeign(t), dlpack.MajorVersion)[0]
	for name, function := range map[string]*uintptr{
		"managed_tensor_allocator":              &table.ManagedTensorAllocator,
		"managed_tensor_from_py_object_no_sync": &table.ManagedTensorFromPyObjectNoSync,
		"managed_tensor_to_py_object_no_sync":   &table.ManagedTensorToPyObjectNoSync,
		"current_work_stream":                   &table.CurrentWorkStream,
	} {
		*function = 0
		_, err := dlpack.FindExchangeAPI(&table.Header)
		rejected(t, "no "+name, err, dlpack.ErrTable)
		*function = 8
	}
	table.DLTensorFromPyObjectNoSync = 0
	must[dlpack.ExchangeAPI](t)(dlpack.FindExchangeAPI(&table.Header))
}
