package gobind

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// now contains the hooks of hookTable for the running test.
var now atomic.Pointer[dlpack.Producer]

var hookTable = made(dlpack.Producer{
	Allocate: func(dtype dlpack.DataType, device dlpack.Device, shape []int64) (*dlpack.DLManagedTensorVersioned,
		error) {
		return now.Load().Allocate(dtype, device, shape)
	},
	FromPyObject: func(object uintptr) (*dlpack.DLManagedTensorVersioned, error) {
		return now.Load().FromPyObject(object)
	},
	ToPyObject: func(m *dlpack.Managed) (uintptr, error) { return now.Load().ToPyObject(m) },
	Borrow:     func(object uintptr) (dlpack.DLTensor, error) { return now.Load().Borrow(object) },
	CurrentWorkStream: func(device dlpack.Device) (dlpack.Stream, error) {
		return now.Load().CurrentWorkStream(device)
	},
	Raise: RaiseError(),
})

// hooked opens hookTable with hooks for one test.
func hooked(t *testing.T, p dlpack.Producer) dlpack.ExchangeAPI {
	t.Helper()
	lockThread(t)
	now.Store(&p)
	api, err := dlpack.FindExchangeAPI(&hookTable().Header)
	require.NoError(t, err)
	return api
}

func TestExchangeHooksDecide(t *testing.T) {
	f, backing := foreign(t), []float64{1, 2, 3, 4, 5, 6}
	api := hooked(t, dlpack.Producer{
		Allocate: func(dtype dlpack.DataType, device dlpack.Device, shape []int64) (*dlpack.DLManagedTensorVersioned,
			error) {
			assert.Equal(t, dlpack.DTypeFloat64, dtype)
			assert.Equal(t, cpu, device)
			return dlpack.Export(backing, shape...)
		},
		FromPyObject: func(object uintptr) (*dlpack.DLManagedTensorVersioned, error) {
			return dlpack.Export(backing[:object])
		},
		Borrow: func(object uintptr) (dlpack.DLTensor, error) {
			assert.Equal(t, uintptr(4711), object)
			return f.Versioned().DLTensor, nil
		},
		ToPyObject: func(m *dlpack.Managed) (uintptr, error) {
			defer m.Release()
			return uintptr(m.Tensor().Len()), nil
		},
		CurrentWorkStream: func(d dlpack.Device) (dlpack.Stream, error) { return dlpack.Stream(d.Type) << 8, nil },
	})
	var m dlpack.Managed
	require.NoError(t, api.Alloc(&m, dlpack.DTypeFloat64, cpu, 2, 3))
	assert.Equal(t, uintptr(unsafe.Pointer(&backing[0])), m.Tensor().Addr())
	object, err := api.ToPyObject(&m)
	require.NoError(t, err)
	assert.Equal(t, uintptr(6), object)
	require.NoError(t, api.FromPyObject(&m, 5))
	assert.Equal(t, []int64{5}, m.Tensor().Shape())
	m.Release()
	var view dlpack.View
	require.NoError(t, api.Borrow(&view, 4711))
	assert.Equal(t, f.Addr(), view.Tensor().Addr())
	stream, err := api.CurrentWorkStream(dlpack.Device{Type: dlpack.DeviceROCM})
	require.NoError(t, err)
	assert.Equal(t, dlpack.Stream(dlpack.DeviceROCM)<<8, stream)
	assert.Zero(t, TakeRaised().Times)
}

// Memory that a hook keeps or writes to does not belong to the consumer.
func TestExchangeHooksGetACopyOfTheShape(t *testing.T) {
	api := hooked(t, dlpack.Producer{
		Allocate: func(_ dlpack.DataType, _ dlpack.Device, shape []int64) (*dlpack.DLManagedTensorVersioned, error) {
			shape[0] = 7
			return dlpack.Export(make([]int8, 7), shape...)
		},
	})
	prototype := Prototype(dlpack.DTypeInt8, cpu, 2)
	defer FreePrototype(prototype)
	p, rc, _ := CallAllocate(api.Raw(), prototype)
	require.Zero(t, rc)
	Consume(p)
	assert.Equal(t, []int64{2}, PrototypeShape(prototype))
}

// failing makes all hooks end with one function.
func failing(end func() error) dlpack.Producer {
	return dlpack.Producer{
		Allocate: func(dlpack.DataType, dlpack.Device, []int64) (*dlpack.DLManagedTensorVersioned, error) {
			return nil, end()
		},
		FromPyObject:      func(uintptr) (*dlpack.DLManagedTensorVersioned, error) { return nil, end() },
		ToPyObject:        func(*dlpack.Managed) (uintptr, error) { return 0, end() },
		Borrow:            func(uintptr) (dlpack.DLTensor, error) { return dlpack.DLTensor{}, end() },
		CurrentWorkStream: func(dlpack.Device) (dlpack.Stream, error) { return 1, end() },
	}
}

type badError struct{}

func (badError) Error() string { panic("an error without words") }

// ends are the ways in which a hook can fail, and the consumer's error for them.
var ends = map[string]struct {
	end  func() error
	want Reported
}{
	"an error": {func() error { return errors.New("no") }, Reported{1, "RuntimeError", "no"}},
	"out of memory": {func() error { return dlpack.ErrNoMemory },
		Reported{1, "MemoryError", "dlpack: out of C memory"}},
	"unsuitable": {func() error { return fmt.Errorf("x: %w", dlpack.ErrDevice) },
		Reported{1, "BufferError", "x: dlpack: memory that the host cannot read"}},
	"an argument": {func() error { return dlpack.ErrArgument }, Reported{1, "ValueError", "dlpack: invalid argument"}},
	"an index":    {func() error { return dlpack.ErrIndex }, Reported{1, "IndexError", "dlpack: index out of range"}},
	"no table": {func() error { return dlpack.ErrTable },
		Reported{1, "BufferError", "dlpack: no usable exchange table"}},
	"another table": {func() error { return &dlpack.CallError{Op: "f", Kind: "KeyError", Message: "m"} },
		Reported{1, "KeyError", "dlpack: f: KeyError: m"}},
	"a panic": {func() error { panic("oh") }, Reported{1, "RuntimeError", "panic: oh"}},
	"a nil panic": {func() error { panic(nil) },
		Reported{1, "RuntimeError", "panic: " + new(runtime.PanicNilError).Error()}},
	"a runtime error": {func() error { var none *Reported; return errors.New(none.Kind) },
		Reported{1, "RuntimeError", "panic: runtime error: invalid memory address or nil pointer dereference"}},
	"a bad error": {func() error { return badError{} }, Reported{1, "RuntimeError", "panic: an error without words"}},
}

func TestExchangeHooksFailAsTheTableDoes(t *testing.T) {
	for name, test := range ends {
		t.Run(name, func(t *testing.T) {
			api, f := hooked(t, failing(test.end)), foreign(t)
			table := api.Raw()
			for function, call := range map[string]func() int{
				"borrow":  func() int { _, rc := CallBorrow(table, 1); return rc },
				"managed": func() int { _, rc := CallManaged(table, 1); return rc },
				"stream":  func() int { _, rc := CallStream(table, cpu); return rc },
				"wrap":    func() int { _, rc := CallWrap(table, f.Versioned()); return rc },
			} {
				assert.Equal(t, -1, call(), function)
				assert.Equal(t, test.want, TakeRaised(), function)
			}
			assert.Zero(t, f.Deleted(), "a tensor that was not wrapped is the caller's still")
			prototype := Prototype(dlpack.DTypeInt8, cpu, 1)
			defer FreePrototype(prototype)
			p, rc, reported := CallAllocate(table, prototype)
			assert.Nil(t, p)
			assert.Equal(t, -1, rc)
			assert.Equal(t, test.want, reported)
			_, rc = CallAllocateSilently(table, prototype)
			assert.Equal(t, -1, rc)
			assert.Zero(t, TakeRaised().Times, "the allocator has a SetError of its own")
		})
	}
}

// A panic from Go through C to Go would unwind C frames.
func TestExchangePanicsDoNotCrossC(t *testing.T) {
	api, f := hooked(t, failing(func() error { panic("oh") })), foreign(t)
	var view dlpack.View
	var m dlpack.Managed
	passed, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	_, wrapped := api.ToPyObject(passed)
	_, streamed := api.CurrentWorkStream(cuda)
	for _, err := range []error{api.Borrow(&view, 1), api.FromPyObject(&m, 1), wrapped, streamed} {
		require.ErrorIs(t, err, dlpack.ErrCall)
	}
	require.EqualError(t, api.Alloc(&m, dlpack.DTypeInt8, cpu),
		"dlpack: managed_tensor_allocator: RuntimeError: panic: oh")
	assert.Equal(t, 1, f.Deleted())
	assert.Equal(t, 400, CallOnThreads(api.Raw(), 1, 100, 4), "each call on a thread of C fails, and no more")
}

func TestExchangeHooksThatReturnNothing(t *testing.T) {
	api := hooked(t, failing(func() error { return nil }))
	const words = "the hook returned neither a result nor an error"
	_, rc := CallManaged(api.Raw(), 1)
	assert.Equal(t, -1, rc)
	assert.Equal(t, Reported{1, "RuntimeError", words}, TakeRaised())
	f := foreign(t)
	_, rc = CallWrap(api.Raw(), f.Versioned())
	assert.Equal(t, -1, rc)
	assert.Equal(t, words, TakeRaised().Message)
	var m dlpack.Managed
	require.ErrorContains(t, api.Alloc(&m, dlpack.DTypeInt8, cpu), words)
}

func TestExchangeHooksAreNotCalledForNonsense(t *testing.T) {
	api := hooked(t, failing(func() error { t.Error("the hook was called"); return nil }))
	for name, lie := range lies {
		s := untrusted(t)
		lie.report(s)
		f := foreign(t)
		f.Versioned().DLTensor = *s.Raw()
		_, rc := CallWrap(api.Raw(), f.Versioned())
		assert.Equal(t, -1, rc, name)
		reported := TakeRaised()
		assert.Equal(t, 1, reported.Times, name)
		assert.Equal(t, "BufferError", reported.Kind, name)
		assert.Zero(t, f.Deleted(), name)
	}
	other := foreign(t)
	other.Versioned().Version.Major = 2
	_, rc := CallWrap(api.Raw(), other.Versioned())
	assert.Equal(t, -1, rc)
	_, rc = CallWrap(api.Raw(), nil)
	assert.Equal(t, -1, rc)
	_, rc, reported := CallAllocate(api.Raw(), nil)
	assert.Equal(t, -1, rc)
	assert.Equal(t, "ValueError", reported.Kind)
	for _, spoil := range []func(*dlpack.DLTensor){
		func(p *dlpack.DLTensor) { p.NDim = -1 }, func(p *dlpack.DLTensor) { p.NDim = 65 },
		func(p *dlpack.DLTensor) { p.Shape = 0 },
	} {
		prototype := Prototype(dlpack.DTypeInt8, cpu, 1)
		spoil(prototype)
		_, rc, reported = CallAllocate(api.Raw(), prototype)
		FreePrototype(prototype)
		assert.Equal(t, -1, rc)
		assert.Equal(t, 1, reported.Times)
	}
}

// The caller owns a tensor that a hook rejected: the copy that the hook kept must not release it
// again.
func TestExchangeWrapHooksThatKeepWhatTheyReject(t *testing.T) {
	var kept *dlpack.Managed
	for _, end := range []func() error{func() error { return errors.New("no") }, func() error { panic("oh") }} {
		api, f := hooked(t, dlpack.Producer{ToPyObject: func(m *dlpack.Managed) (uintptr, error) {
			kept = m
			return 0, end()
		}}), foreign(t)
		_, rc := CallWrap(api.Raw(), f.Versioned())
		assert.Equal(t, -1, rc)
		assert.Equal(t, dlpack.Tensor{}, kept.Tensor())
		kept.Release()
		assert.Zero(t, f.Deleted())
	}
}

// A hook that incorrectly releases a tensor that it then rejects.
func TestExchangeWrapHooksThatReleaseAndFail(t *testing.T) {
	api, f := hooked(t, dlpack.Producer{ToPyObject: func(m *dlpack.Managed) (uintptr, error) {
		m.Release()
		return 0, errors.New("no")
	}}), foreign(t)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	_, err = api.ToPyObject(m)
	require.Error(t, err)
	assert.Equal(t, 1, f.Deleted(), "our own Wrap copes with it")
}

var partlyC = made(dlpack.Producer{
	CurrentWorkStream: func(dlpack.Device) (dlpack.Stream, error) { return 5, nil },
	Functions: dlpack.DLPackExchangeAPI{
		Header:                     dlpack.DLPackExchangeAPIHeader{PrevAPI: uintptr(unsafe.Pointer(HeaderAlone(0)))},
		DLTensorFromPyObjectNoSync: NewStrangeTable().DLTensorFromPyObjectNoSync,
	},
})

func TestExchangeTablesMixGoAndC(t *testing.T) {
	api, err := dlpack.FindExchangeAPI(&partlyC().Header)
	require.NoError(t, err)
	var view dlpack.View
	s, f := untrusted(t), foreign(t)
	require.NoError(t, api.Borrow(&view, s.Object()), "a function of the user's, in C")
	assert.Equal(t, s.Raw().Data, view.Tensor().Addr())
	stream, err := api.CurrentWorkStream(cuda)
	require.NoError(t, err)
	assert.Equal(t, dlpack.Stream(5), stream, "a hook in Go")
	var m dlpack.Managed
	object := objectOf(t, f)
	require.NoError(t, api.FromPyObject(&m, uintptr(object)), "a default")
	m.Release()
	object.Release()
	assert.NotZero(t, partlyC().Header.PrevAPI)
}

func TestExchangeProducersThatContradictThemselves(t *testing.T) {
	all, hooks := *NewStrangeTable(), failing(nil)
	for name, p := range map[string]dlpack.Producer{
		"managed_tensor_allocator":              {Allocate: hooks.Allocate, Functions: all},
		"managed_tensor_from_py_object_no_sync": {FromPyObject: hooks.FromPyObject, Functions: all},
		"managed_tensor_to_py_object_no_sync":   {ToPyObject: hooks.ToPyObject, Functions: all},
		"dltensor_from_py_object_no_sync":       {Borrow: hooks.Borrow, Functions: all},
		"current_work_stream":                   {CurrentWorkStream: hooks.CurrentWorkStream, Functions: all},
	} {
		_, err := dlpack.NewExchangeAPI(p)
		require.EqualError(t, err, "dlpack: invalid argument: "+name+" is set in Go and in C")
	}
	_, err := dlpack.NewExchangeAPI(dlpack.Producer{Offset: -8})
	require.ErrorIs(t, err, dlpack.ErrArgument)
}

// filling marks a process in which all tables are created.
const filling = "DLPACKGEN_GOBIND_TABLES"

func TestExchangeTablesAreFew(t *testing.T) {
	if os.Getenv(filling) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestExchangeTablesAreFew$", "-test.v")
		cmd.Env = append(os.Environ(), filling+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "PASS: TestExchangeTablesAreFew")
		return
	}
	tables := map[*dlpack.DLPackExchangeAPI]bool{}
	for i := dlpack.Stream(0); ; i++ {
		table, err := dlpack.NewExchangeAPI(dlpack.Producer{CurrentWorkStream: func(dlpack.Device) (dlpack.Stream,
			error) {
			return i, nil
		}})
		if err != nil {
			require.EqualError(t, err,
				"dlpack: no usable exchange table: a package can have 8 tables, which exist until the process ends")
			require.ErrorIs(t, err, dlpack.ErrTable)
			break
		}
		api, err := dlpack.FindExchangeAPI(&table.Header)
		require.NoError(t, err)
		tables[table] = true
		stream, err := api.CurrentWorkStream(cuda)
		require.NoError(t, err)
		assert.Equal(t, i, stream, "each table calls its own hooks")
	}
	assert.Contains(t, []int{6, 7, 8}, len(tables), "but for those that examples make")
	_, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	require.NoError(t, err, "the default table does not count")
}
