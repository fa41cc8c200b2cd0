package gobind

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// made creates a table once per process, because their number is limited.
func made(p dlpack.Producer) func() *dlpack.DLPackExchangeAPI {
	return sync.OnceValue(func() *dlpack.DLPackExchangeAPI {
		table, err := dlpack.NewExchangeAPI(p)
		if err != nil {
			panic(err)
		}
		return table
	})
}

var (
	plainTable    = made(dlpack.Producer{})
	raisingTable  = made(dlpack.Producer{Raise: RaiseError()})
	embeddedTable = made(dlpack.Producer{Raise: RaiseError(), Offset: EmbeddedOffset})
)

// objectOf creates an object of a tensor in C, with one reference.
func objectOf(t *testing.T, f Foreign) dlpack.Object {
	t.Helper()
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	object, err := dlpack.NewObject(m)
	require.NoError(t, err)
	assert.Equal(t, dlpack.Tensor{}, m.Tensor())
	return object
}

// lockThread keeps a test on the thread whose C state it uses.
func lockThread(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	TakeRaised()
}

func TestExchangeProducesACompleteTable(t *testing.T) {
	for name, table := range map[string]*dlpack.DLPackExchangeAPI{
		"plain": plainTable(), "raising": raisingTable(), "embedded": embeddedTable(), "hooked": hookTable(),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, dlpack.Version{Major: dlpack.MajorVersion, Minor: dlpack.MinorVersion},
				table.Header.Version)
			assert.Zero(t, table.Header.PrevAPI)
			assert.NotZero(t, table.DLTensorFromPyObjectNoSync)
			assert.Same(t, table, FindTable(&table.Header), "C takes it")
			api, err := dlpack.FindExchangeAPI(&table.Header)
			require.NoError(t, err)
			assert.Same(t, table, api.Raw())
		})
	}
	again, err := dlpack.NewExchangeAPI(dlpack.Producer{Functions: dlpack.DLPackExchangeAPI{
		Header: dlpack.DLPackExchangeAPIHeader{Version: dlpack.Version{Major: 9}}}})
	require.NoError(t, err)
	assert.Same(t, plainTable(), again, "the version is not the user's to choose")
}

func TestExchangeProducedViewsAndTensors(t *testing.T) {
	f := foreign(t)
	f.Versioned().Flags = dlpack.FlagReadOnly
	object := objectOf(t, f)
	_, rc := CallBorrow(plainTable(), uintptr(object))
	assert.Equal(t, -1, rc, "a view would not be read-only")
	one, rc := CallManaged(plainTable(), uintptr(object))
	require.Zero(t, rc)
	two, rc := CallManaged(plainTable(), uintptr(object))
	require.Zero(t, rc)
	assert.NotSame(t, one, two)
	object.Retain()
	object.Release()
	object.Release()
	assert.Zero(t, f.Deleted(), "its consumers still have it")
	assert.Equal(t, dlpack.FlagReadOnly, one.Flags)
	Consume(one)
	assert.Zero(t, f.Deleted())
	m, err := dlpack.Import(two)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3}, m.Tensor().Shape())
	m.Release()
	assert.Equal(t, 1, f.Deleted())
}

func TestExchangeObjectsOfLegacyTensorsHaveStrides(t *testing.T) {
	f := foreign(t)
	f.Reshape([]int64{2, 1, 3}, nil)
	m, err := dlpack.ImportLegacy(f.Legacy())
	require.NoError(t, err)
	object, err := dlpack.NewObject(m)
	require.NoError(t, err)
	_, err = dlpack.NewObject(m)
	require.ErrorIs(t, err, dlpack.ErrReleased)
	var managed dlpack.Managed
	api, err := dlpack.FindExchangeAPI(&plainTable().Header)
	require.NoError(t, err)
	require.NoError(t, api.FromPyObject(&managed, uintptr(object)))
	assert.Equal(t, []int64{3, 3, 1}, managed.Tensor().Strides())
	assert.True(t, managed.WritableTensor().IsReadOnly(), "a legacy tensor has no flags")
	managed.Release()
	object.Release()
	assert.Equal(t, 1, f.Deleted())
}

// A view has no flags: borrowers would write to read-only tensors, and treat padded elements as
// packed.
func TestExchangeBorrowsNoTensorWithFlags(t *testing.T) {
	lockThread(t)
	for flags, exported := range map[dlpack.Flags]bool{
		0: true, dlpack.FlagIsCopied: true, dlpack.FlagReadOnly: false, dlpack.FlagIsSubbyteTypePadded: false,
		1 << 40: false,
	} {
		f := foreign(t)
		f.Versioned().Flags = flags
		object := objectOf(t, f)
		view, rc := CallBorrow(plainTable(), uintptr(object))
		assert.Equal(t, exported, rc == 0, "%#x", flags)
		if exported {
			assert.Equal(t, f.Addr(), view.Data)
			assert.Equal(t, int32(2), view.NDim)
		}
		managed, rc := CallManaged(plainTable(), uintptr(object))
		require.Zero(t, rc)
		assert.Equal(t, flags, managed.Flags)
		Consume(managed)
		object.Release()
	}
}

func TestExchangeProducedObjectsOfTensors(t *testing.T) {
	lockThread(t)
	f := foreign(t)
	object, rc := CallWrap(raisingTable(), f.Versioned())
	require.Zero(t, rc)
	view, rc := CallBorrow(raisingTable(), object)
	require.Zero(t, rc)
	assert.Equal(t, f.Addr(), view.Data)
	dlpack.Object(object).Release()
	assert.Equal(t, 1, f.Deleted())

	for name, spoil := range map[string]func(Foreign){
		"another major": func(f Foreign) { f.Versioned().Version.Major = 2 },
		"ndim below 0":  func(f Foreign) { f.Versioned().DLTensor.NDim = -1 },
		"a wild ndim":   func(f Foreign) { f.Versioned().DLTensor.NDim = math.MaxInt32 },
		"no shape":      func(f Foreign) { f.Versioned().DLTensor.Shape = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			lockThread(t)
			f := foreign(t)
			spoil(f)
			_, rc := CallWrap(raisingTable(), f.Versioned())
			assert.Equal(t, -1, rc)
			assert.Zero(t, f.Deleted(), "the caller still owns a rejected tensor")
			reported := TakeRaised()
			assert.Equal(t, 1, reported.Times)
			assert.Equal(t, "BufferError", reported.Kind)
		})
	}
	_, rc = CallWrap(raisingTable(), nil)
	assert.Equal(t, -1, rc)
	assert.Equal(t, "BufferError", TakeRaised().Kind)
}

func TestExchangeProducedFunctionsKnowTheirObjects(t *testing.T) {
	lockThread(t)
	s := untrusted(t)
	_, borrowed := CallBorrow(raisingTable(), s.Object())
	_, owned := CallManaged(raisingTable(), s.Object())
	_, none := CallManaged(raisingTable(), 0)
	assert.Equal(t, []int{-1, -1, -1}, []int{borrowed, owned, none})
	assert.Equal(t, Reported{3, "TypeError", "not an object of this exchange table"}, TakeRaised())
	_, silent := CallManaged(plainTable(), s.Object())
	assert.Equal(t, -1, silent, "without Raise there is only the result")
}

func TestExchangeProducedObjectsMayBeEmbedded(t *testing.T) {
	lockThread(t)
	f := foreign(t)
	object := objectOf(t, f)
	outer, hollow := NewEmbedded(uintptr(object)), NewEmbedded(0)
	defer outer.Free()
	defer hollow.Free()
	view, rc := CallBorrow(embeddedTable(), outer.Object())
	require.Zero(t, rc)
	assert.Equal(t, f.Addr(), view.Data)
	p, rc := CallManaged(embeddedTable(), outer.Object())
	require.Zero(t, rc)
	object.Release()
	assert.Zero(t, f.Deleted())
	Consume(p)
	assert.Equal(t, 1, f.Deleted())
	_, rc = CallBorrow(embeddedTable(), hollow.Object())
	assert.Equal(t, -1, rc)
	assert.Equal(t, "TypeError", TakeRaised().Kind)
}

func TestExchangeProducedStreams(t *testing.T) {
	lockThread(t)
	for _, device := range onHost {
		stream, rc := CallStream(raisingTable(), device)
		assert.Zero(t, rc, device)
		assert.Zero(t, stream, device)
		assert.Zero(t, TakeRaised().Times, device)
	}
	for _, device := range []dlpack.Device{cuda, {Type: dlpack.DeviceCUDAManaged}, {Type: 999}} {
		_, rc := CallStream(raisingTable(), device)
		assert.Equal(t, -1, rc, device)
		assert.Equal(t, Reported{1, "BufferError", "this exchange table has no streams of devices other than the host"},
			TakeRaised())
	}
}

func TestExchangeProducedMemory(t *testing.T) {
	for name, test := range map[string]struct {
		dtype   dlpack.DataType
		shape   []int64
		strides []int64
	}{
		"a matrix": {dlpack.DTypeFloat32, []int64{2, 3}, []int64{3, 1}},
		"a scalar": {dlpack.DTypeComplex128, []int64{}, nil},
		"empty":    {dlpack.DTypeInt8, []int64{4, 0, 3}, []int64{3, 3, 1}},
		"none":     {dlpack.DTypeInt8, []int64{math.MaxInt64, math.MaxInt64, 0}, []int64{math.MaxInt64, 1, 1}},
		"packed":   {dlpack.DataType{Code: dlpack.CodeInt, Bits: 4, Lanes: 1}, []int64{5}, []int64{1}},
		"lanes":    {dlpack.DataType{Code: dlpack.CodeFloat, Bits: 32, Lanes: 3}, []int64{7}, []int64{1}},
		"64 dims":  {dlpack.DTypeInt8, filled(64, 1), filled(64, 1)},
		"large":    {dlpack.DTypeInt8, []int64{1 << 22}, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			prototype := Prototype(test.dtype, cpu, test.shape...)
			defer FreePrototype(prototype)
			p, rc, reported := CallAllocate(plainTable(), prototype)
			require.Zero(t, rc)
			assert.Zero(t, reported.Times)
			tensor := imported(t, p, nil)
			assert.Equal(t, test.shape, tensor.Shape())
			assert.Equal(t, test.strides, tensor.Strides())
			assert.Equal(t, test.dtype, tensor.DataType())
			assert.Zero(t, tensor.Addr()%256)
			assert.Equal(t, tensor.Len() == 0, tensor.Addr() == 0)
			bytes := tensor.Len() * int(test.dtype.Bits) * int(test.dtype.Lanes) / 8
			// a sanitizer would report false errors
			clear(unsafe.Slice((*byte)(unsafe.Pointer(ManagedAt(tensor.Addr()))), bytes))
		})
	}
}

func filled(n int, with int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = with
	}
	return all
}

func TestExchangeProducedAllocatorReportsOnceWhatItRejects(t *testing.T) {
	for name, test := range map[string]struct {
		dtype   dlpack.DataType
		device  dlpack.Device
		shape   []int64
		message string
	}{
		"a device": {dlpack.DTypeInt8, dlpack.Device{Type: dlpack.DeviceCUDA}, []int64{1},
			"this exchange table allocates only CPU memory"},
		"no bits": {dlpack.DataType{Lanes: 1}, cpu, []int64{1},
			"dtype.bits is 0 or does not fit its type code"},
		"the bits of another code": {dlpack.DataType{Code: dlpack.CodeBool, Bits: 32, Lanes: 1}, cpu, []int64{1},
			"dtype.bits is 0 or does not fit its type code"},
		"no lanes":          {dlpack.DataType{Bits: 8}, cpu, []int64{1}, "dtype.lanes is 0"},
		"a negative extent": {dlpack.DTypeInt8, cpu, []int64{0, -1}, "a negative extent"},
		"too much": {dlpack.DTypeFloat64, cpu, []int64{math.MaxInt64, 2},
			"more elements than memory can hold"},
		"just too much": {dlpack.DTypeInt16, cpu, []int64{1 << 62}, "more elements than memory can hold"},
		"too many dims": {dlpack.DTypeInt8, cpu, filled(65, 1), "no valid shape"},
	} {
		t.Run(name, func(t *testing.T) {
			prototype := Prototype(test.dtype, test.device, test.shape...)
			defer FreePrototype(prototype)
			p, rc, reported := CallAllocate(plainTable(), prototype)
			assert.Nil(t, p)
			assert.Equal(t, -1, rc)
			assert.Equal(t, Reported{1, "BufferError", test.message}, reported)
			p, rc = CallAllocateSilently(plainTable(), prototype)
			assert.Nil(t, p)
			assert.Equal(t, -1, rc, "also without a receiver")
		})
	}
	_, rc, reported := CallAllocate(plainTable(), nil)
	assert.Equal(t, -1, rc)
	assert.Equal(t, Reported{1, "BufferError", "no prototype"}, reported)
	bad := Prototype(dlpack.DTypeInt8, cpu, 1)
	defer FreePrototype(bad)
	bad.Shape = 0
	_, rc, reported = CallAllocate(plainTable(), bad)
	assert.Equal(t, -1, rc)
	assert.Equal(t, 1, reported.Times)
}

func TestExchangeProducedAllocatorRunsOutOfMemory(t *testing.T) {
	if sanitized {
		t.Skip("a sanitizer ends the process where malloc would give NULL")
	}
	prototype := Prototype(dlpack.DTypeInt8, cpu, 1<<55)
	defer FreePrototype(prototype)
	p, rc, reported := CallAllocate(plainTable(), prototype)
	assert.Nil(t, p)
	assert.Equal(t, -1, rc)
	assert.Equal(t, Reported{1, "MemoryError", "no memory for the tensor"}, reported)
}

// All functions, with Go as the consumer.
func TestExchangeWithOneself(t *testing.T) {
	api, err := dlpack.FindExchangeAPI(&plainTable().Header)
	require.NoError(t, err)
	var m, copied dlpack.Managed
	require.NoError(t, api.Alloc(&m, dlpack.DTypeFloat32, cpu, 2, 3))
	values, err := dlpack.WritableData[float32](m.Tensor())
	require.NoError(t, err)
	copy(values, []float32{1, 2, 3, 4, 5, 6})
	object, err := api.ToPyObject(&m)
	require.NoError(t, err)
	defer dlpack.Object(object).Release()
	var view dlpack.View
	require.NoError(t, api.Borrow(&view, object))
	require.NoError(t, api.FromPyObject(&copied, object))
	defer copied.Release()
	assert.Equal(t, view.Tensor().Addr(), copied.Tensor().Addr())
	values, err = dlpack.Data[float32](view.Tensor())
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, values)
	stream, err := api.CurrentWorkStream(cpu)
	require.NoError(t, err)
	assert.Zero(t, stream)
}

// A Go slice stays pinned as long as an object or its consumers exist.
func TestExchangeObjectsOfSlices(t *testing.T) {
	before := dlpack.Drain()
	p, freed := exportWatched(t)
	m, err := dlpack.Import(p)
	require.NoError(t, err)
	object, err := dlpack.NewObject(m)
	require.NoError(t, err)
	consumer, rc := CallManaged(plainTable(), uintptr(object))
	require.Zero(t, rc)
	object.Release()
	collect(2)
	assert.False(t, freed.Load())
	ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{consumer}, 1)
	assert.Equal(t, before, dlpack.Drain())
}
