package gobind

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

var (
	cpu  = dlpack.Device{Type: dlpack.DeviceCPU}
	cuda = dlpack.Device{Type: dlpack.DeviceCUDA}
)

// onHost are devices of all types of host memory, which have no streams.
var onHost = []dlpack.Device{cpu, {Type: dlpack.DeviceCUDAHost}, {Type: dlpack.DeviceROCMHost}}

func TestExchangeManagedOwnsUntilRelease(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	s.SetFlags(dlpack.FlagIsCopied)
	var m dlpack.Managed
	require.NoError(t, api.FromPyObject(&m, s.Object()))
	assert.Equal(t, dlpack.FlagIsCopied, m.Tensor().Flags())
	values, err := dlpack.Data[float32](m.Tensor())
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 1, 2, 3, 4, 5}, values)
	require.EqualError(t, api.FromPyObject(&m, s.Object()),
		"dlpack: invalid argument: the Managed owns a tensor already")
	m.Release()
	m.Release()
	require.NoError(t, api.FromPyObject(&m, s.Object()), "a released Managed can be used again")
	m.Release()
	borrowed, owned, deleted := s.Counts()
	assert.Equal(t, []int{0, 2, 2}, []int{borrowed, owned, deleted})
	require.EqualError(t, api.FromPyObject(&m, 0), "dlpack: invalid argument: no object: its address is 0")
}

func TestExchangeManagedRejectsInvalidTensors(t *testing.T) {
	api, _ := opened(t)
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			s := untrusted(t)
			lie.report(s)
			rejectedManaged(t, api, s, lie.want)
		})
	}
	t.Run("another major", func(t *testing.T) {
		s := untrusted(t)
		s.SetVersion(dlpack.Version{Major: 2})
		rejectedManaged(t, api, s, dlpack.ErrVersion)
	})
	t.Run("nothing", func(t *testing.T) {
		s := untrusted(t)
		s.SetNothing(true)
		var m dlpack.Managed
		require.EqualError(t, api.FromPyObject(&m, s.Object()),
			"dlpack: managed_tensor_from_py_object_no_sync: it returned success without a result")
	})
}

func rejectedManaged(t *testing.T, api dlpack.ExchangeAPI, s UntrustedProducer, want error) {
	t.Helper()
	var m dlpack.Managed
	require.ErrorIs(t, api.FromPyObject(&m, s.Object()), want)
	assert.Equal(t, dlpack.Tensor{}, m.Tensor())
	_, owned, deleted := s.Counts()
	assert.Equal(t, []int{1, 1}, []int{owned, deleted})
}

// Pending errors of functions, such as Python's, are read on the thread where they are pending.
func TestExchangeErrorsAreExplained(t *testing.T) {
	plain, _ := opened(t)
	s := untrusted(t)
	s.SetFails(-1)
	for name, test := range map[string]struct {
		explain       Habit
		kind, message string
	}{
		"once":          {Behave, "BufferError", "no view today"},
		"twice":         {FailReportedTwice, "BufferError", "no view today"},
		"never":         {FailUnreported, "", "it reported no reason"},
		"without words": {FailReportedNull, "BufferError", ""},
	} {
		t.Run(name, func(t *testing.T) {
			Habits{Explain: test.explain}.Set()
			var view dlpack.View
			err := plain.Explained(ExplainPending()).Borrow(&view, s.Object())
			var call *dlpack.CallError
			require.ErrorAs(t, err, &call)
			require.ErrorIs(t, err, dlpack.ErrCall)
			assert.Equal(t, dlpack.CallError{Op: "dltensor_from_py_object_no_sync", Kind: test.kind,
				Message: test.message}, *call)
		})
	}
	var view dlpack.View
	require.EqualError(t, plain.Borrow(&view, s.Object()),
		"dlpack: dltensor_from_py_object_no_sync: it reported no reason")
	assert.Equal(t, plain, plain.Explained(ExplainPending()).Explained(nil))
}

func TestExchangeEveryFunctionIsExplained(t *testing.T) {
	plain, _ := opened(t)
	api := plain.Explained(ExplainPending())
	s, f := untrusted(t), foreign(t)
	s.SetFails(-1)
	Habits{Allocate: FailUnreported, Stream: FailUnreported, Wrap: FailUnreported}.Set()
	var m dlpack.Managed
	passed, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	_, wrapped := api.ToPyObject(passed)
	_, streamed := api.CurrentWorkStream(cuda)
	for want, err := range map[string]error{
		"dlpack: managed_tensor_from_py_object_no_sync: BufferError: no tensor today": api.FromPyObject(&m,
			s.Object()),
		"dlpack: managed_tensor_to_py_object_no_sync: BufferError: not wrapped, and left alone": wrapped,
		"dlpack: managed_tensor_allocator: BufferError: left pending by the allocator": api.Alloc(&m,
			dlpack.DTypeInt8, cpu, 1),
		"dlpack: current_work_stream: BufferError: no stream today": streamed,
		"object 1: dlpack: dltensor_from_py_object_no_sync: BufferError: no view today": api.BorrowAll(
			make([]dlpack.View, 2), untrusted(t).Object(), s.Object()),
	} {
		require.EqualError(t, err, want)
	}
}

func TestExchangeWrapOwnsTheTensorInAnyCase(t *testing.T) {
	for name, test := range map[string]struct {
		habit Habit
		want  string
	}{
		"rejected and left alone": {FailUnreported,
			"dlpack: managed_tensor_to_py_object_no_sync: it reported no reason"},
		"rejected and deleted": {FailAndDelete, "dlpack: managed_tensor_to_py_object_no_sync: it reported no reason"},
		"taken for nothing": {GiveNothing,
			"dlpack: managed_tensor_to_py_object_no_sync: it returned success without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			api, _ := opened(t)
			f := foreign(t)
			m, err := dlpack.Import(f.Versioned())
			require.NoError(t, err)
			Habits{Wrap: test.habit}.Set()
			object, err := api.ToPyObject(m)
			require.EqualError(t, err, test.want)
			assert.Zero(t, object)
			assert.Equal(t, 1, f.Deleted())
			assert.Equal(t, dlpack.Tensor{}, m.Tensor())
			m.Release()
			assert.Equal(t, 1, f.Deleted())
			_, err = api.ToPyObject(m)
			require.ErrorIs(t, err, dlpack.ErrReleased)
		})
	}
}

func TestExchangeWrapPassesAllOfTheTensorToTheTable(t *testing.T) {
	for _, name := range []string{"versioned", "forbidden", "legacy"} {
		t.Run(name, func(t *testing.T) {
			api, _ := opened(t)
			f := foreign(t)
			if name == "versioned" {
				f.Versioned().Flags = dlpack.FlagReadOnly
			}
			m, err := dlpack.Import(f.Versioned())
			if name == "legacy" {
				f.Reshape([]int64{2, 1, 3}, nil)
				m, err = dlpack.ImportLegacy(f.Legacy())
			}
			require.NoError(t, err)
			if name == "forbidden" {
				m.SetReadOnly()
			}
			object, err := api.ToPyObject(m)
			require.NoError(t, err)
			assert.Equal(t, dlpack.Tensor{}, m.Tensor())
			assert.Zero(t, f.Deleted(), "the object has it")

			// The object of a foreign table is the managed tensor itself.
			passed, err := dlpack.Import(ManagedAt(object))
			require.NoError(t, err)
			tensor := passed.Tensor()
			assert.Equal(t, f.Addr(), tensor.Addr())
			assert.True(t, tensor.IsReadOnly(), "by its flag, by SetReadOnly, or since a legacy one has none")
			assert.NotNil(t, tensor.Strides(), "DLPack 1.2 requires them")
			assert.True(t, tensor.IsContiguous())
			passed.Release()
			assert.Equal(t, 1, f.Deleted())
		})
	}
}

func TestExchangeAlloc(t *testing.T) {
	api, _ := opened(t)
	eleven := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3} // more than are passed by value
	for _, shape := range [][]int64{nil, {0}, {2, 3}, {1, 1, 1, 1, 1, 1, 2, 3}, eleven} {
		var m dlpack.Managed
		require.NoError(t, api.Alloc(&m, dlpack.DTypeFloat64, cpu, shape...))
		assert.Equal(t, len(shape), m.Tensor().NDim())
		assert.Equal(t, append([]int64{}, shape...), m.Tensor().Shape())
		assert.Equal(t, dlpack.DTypeFloat64, m.Tensor().DataType())
		m.Release()
	}
	var m dlpack.Managed
	require.ErrorIs(t, api.Alloc(&m, dlpack.DTypeInt8, cpu, make([]int64, dlpack.MaxNDim+1)...), dlpack.ErrShape)
	require.NoError(t, api.Alloc(&m, dlpack.DTypeInt8, dlpack.Device{Type: dlpack.DeviceCPU, ID: 3}, 1))
	require.ErrorIs(t, api.Alloc(&m, dlpack.DTypeInt8, cpu, 1), dlpack.ErrArgument, "it owns the last one")
	m.Release()
}

func TestExchangeAllocReportsTheFirstReason(t *testing.T) {
	api, _ := opened(t)
	for name, test := range map[string]struct {
		habit Habit
		want  string
	}{
		"reported once": {FailReportedOnce,
			"dlpack: managed_tensor_allocator: MemoryError: the first reason"},
		"reported twice": {FailReportedTwice,
			"dlpack: managed_tensor_allocator: MemoryError: the first reason"},
		"reported without a reason": {FailReportedNull, "dlpack: managed_tensor_allocator: it reported no reason"},
		"never told":                {FailUnreported, "dlpack: managed_tensor_allocator: it reported no reason"},
		"success of nothing": {GiveNothing,
			"dlpack: managed_tensor_allocator: it returned success without a result"},
		"another shape": {Lie,
			"dlpack: no usable exchange table: requested float32 [2 3] on CPU:0, got float32 [3 3] on " +
				"CPU:0"},
	} {
		t.Run(name, func(t *testing.T) {
			Habits{Allocate: test.habit}.Set()
			var m dlpack.Managed
			require.EqualError(t, api.Alloc(&m, dlpack.DTypeFloat32, cpu, 2, 3), test.want)
			assert.Equal(t, dlpack.Tensor{}, m.Tensor())
		})
	}
	Habits{Allocate: FailReportedOnce}.Set()
	explained := ExplainCalls()
	require.ErrorContains(t, api.Explained(ExplainPending()).Alloc(new(dlpack.Managed), dlpack.DTypeInt8, cpu),
		"the first reason")
	assert.Equal(t, explained, ExplainCalls(), "one report is enough")
	Habits{Allocate: TellAndSucceed}.Set()
	var m dlpack.Managed
	require.NoError(t, api.Alloc(&m, dlpack.DTypeFloat32, cpu, 2, 3), "only the result counts")
	m.Release()
}

func TestExchangeStream(t *testing.T) {
	api, _ := opened(t)
	before := StreamCalls()
	for device, want := range map[dlpack.Device]dlpack.Stream{
		cpu:                              0,
		{Type: dlpack.DeviceCUDA, ID: 3}: 2003,
		{Type: 999, ID: -1}:              998_999,
	} {
		stream, err := api.CurrentWorkStream(device)
		require.NoError(t, err)
		assert.Equal(t, want, stream, device)
	}
	Habits{Stream: FailUnreported}.Set()
	for _, device := range onHost {
		stream, err := api.CurrentWorkStream(device)
		require.NoError(t, err, device)
		assert.Zero(t, stream, device)
	}
	assert.Equal(t, 2, StreamCalls()-before, "none for host memory, pinned or not")
	_, err := api.CurrentWorkStream(cuda)
	require.ErrorIs(t, err, dlpack.ErrCall)
}

func TestExchangeCallErrorReportsWhatItHas(t *testing.T) {
	err := error(&dlpack.CallError{Op: "f", Kind: "K", Message: "m"})
	require.EqualError(t, err, "dlpack: f: K: m")
	require.EqualError(t, &dlpack.CallError{Op: "f", Message: "m"}, "dlpack: f: m")
	assert.True(t, errors.Is(err, dlpack.ErrCall))
	assert.False(t, errors.Is(err, dlpack.ErrTable))
}
