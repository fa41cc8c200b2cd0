package gobind

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

func untrusted(t *testing.T) UntrustedProducer {
	t.Helper()
	s := NewUntrustedProducer()
	require.NotNil(t, s.c, "C returned no memory")
	t.Cleanup(s.Free)
	return s
}

// owning opens a table that cannot lend views.
func owning(t *testing.T) dlpack.ExchangeAPI {
	t.Helper()
	api, table := opened(t)
	table.DLTensorFromPyObjectNoSync = 0
	return api
}

func TestExchangeBorrowSeesTheMemoryOfC(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) dlpack.ExchangeAPI{
		"lending": func(t *testing.T) dlpack.ExchangeAPI { api, _ := opened(t); return api },
		"owning":  owning,
	} {
		t.Run(name, func(t *testing.T) {
			api, s := open(t), untrusted(t)
			var view dlpack.View
			require.NoError(t, api.Borrow(&view, s.Object()))
			defer view.Release()
			tensor := view.Tensor()
			assert.Equal(t, []int64{2, 3}, tensor.Shape())
			assert.Equal(t, []int64{3, 1}, tensor.Strides())
			assert.Equal(t, s.Raw().Data, tensor.Addr())
			values, err := dlpack.WritableData[float32](view.WritableTensor())
			require.NoError(t, err)
			assert.Equal(t, []float32{0, 1, 2, 3, 4, 5}, values)
			_, err = dlpack.WritableData[float32](tensor)
			if name == "lending" {
				require.ErrorIs(t, err, dlpack.ErrReadOnly, "a borrowed tensor has no flags")
			} else {
				require.NoError(t, err)
			}
			assert.Zero(t, view.Stream())
		})
	}
}

// Another thread may resize an object while it is borrowed.
func TestExchangeBorrowKeepsTheShapeThatItTested(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	var view dlpack.View
	require.NoError(t, api.Borrow(&view, s.Object()))
	s.Shape()[0], s.Strides()[0], s.Raw().NDim = math.MaxInt64, math.MinInt64, 1
	assert.Equal(t, []int64{2, 3}, view.Tensor().Shape())
	assert.Equal(t, []int64{3, 1}, view.Tensor().Strides())
	view.Release()
	assert.Equal(t, dlpack.Tensor{}, view.Tensor())
}

// A loop that reuses its views must not read those of the previous round.
func TestExchangeBorrowOfNothingEmptiesTheViews(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	views := make([]dlpack.View, 2)
	for name, borrow := range map[string]func() error{
		"no object":      func() error { return api.BorrowAll(views, s.Object(), 0) },
		"too few views":  func() error { return api.BorrowAll(views, s.Object(), s.Object(), s.Object()) },
		"no table":       func() error { return dlpack.ExchangeAPI{}.BorrowAll(views, s.Object(), s.Object()) },
		"one, no object": func() error { views[1].Release(); return api.Borrow(&views[0], 0) },
	} {
		require.NoError(t, api.BorrowAll(views, s.Object(), s.Object()))
		require.ErrorIs(t, borrow(), dlpack.ErrArgument, name)
		assert.Equal(t, dlpack.Tensor{}, views[0].Tensor(), name)
		assert.Equal(t, dlpack.Tensor{}, views[1].Tensor(), name)
	}
	require.ErrorIs(t, api.Borrow(nil, s.Object()), dlpack.ErrArgument)
	require.ErrorIs(t, api.FromPyObject(nil, s.Object()), dlpack.ErrArgument)
	require.ErrorIs(t, api.Alloc(nil, dlpack.DTypeFloat32, dlpack.Device{Type: dlpack.DeviceCPU}, 1),
		dlpack.ErrArgument)
}

func TestExchangeBorrowOfEveryNDim(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	for i := range s.Shape() {
		s.Shape()[i], s.Strides()[i] = 1, int64(i)
	}
	var view dlpack.View
	for n := range dlpack.MaxNDim + 1 {
		s.Raw().NDim = int32(n)
		require.NoError(t, api.Borrow(&view, s.Object()))
		require.Len(t, view.Tensor().Shape(), n)
		require.Len(t, view.Tensor().Strides(), n)
		for i, stride := range view.Tensor().Strides() {
			require.Equal(t, int64(i), stride)
		}
	}
}

func TestExchangeBorrowQueriesTheStreamOfItsDevice(t *testing.T) {
	api, _ := opened(t)
	a, b, c, d := untrusted(t), untrusted(t), untrusted(t), untrusted(t)
	for device, s := range map[dlpack.Device]UntrustedProducer{
		{Type: dlpack.DeviceCUDA, ID: 1}: a, {Type: dlpack.DeviceCUDA, ID: 2}: c, {Type: dlpack.DeviceCPU}: d,
	} {
		s.Raw().Device = device
	}
	b.Raw().Device = a.Raw().Device
	before := StreamCalls()
	views := make([]dlpack.View, 4)
	require.NoError(t, api.BorrowAll(views, a.Object(), b.Object(), c.Object(), d.Object()))
	var streams []dlpack.Stream
	for i := range views {
		streams = append(streams, views[i].Stream())
	}
	assert.Equal(t, []dlpack.Stream{2001, 2001, 2002, 0}, streams)
	assert.Equal(t, 2, StreamCalls()-before, "once a device, and never for the CPU")
	views[0].Release()
	assert.Zero(t, views[0].Stream())

	Habits{Stream: FailUnreported}.Set()
	for _, device := range onHost {
		d.Raw().Device = device
		require.NoError(t, api.Borrow(&views[0], d.Object()), "%v has no streams", device)
	}
	err := api.Borrow(&views[0], a.Object())
	require.EqualError(t, err, "dlpack: current_work_stream: it reported no reason")
}

func TestExchangeViewsOfATableThatCannotBorrowOwnTheirTensor(t *testing.T) {
	api, s := owning(t), untrusted(t)
	s.SetFlags(dlpack.FlagReadOnly)
	var view dlpack.View
	require.NoError(t, api.Borrow(&view, s.Object()))
	assert.True(t, view.Tensor().IsReadOnly())
	require.NoError(t, api.Borrow(&view, s.Object()), "a reused View releases its tensor")
	borrowed, owned, deleted := s.Counts()
	assert.Equal(t, []int{0, 2, 1}, []int{borrowed, owned, deleted})
	view.Release()
	view.Release()
	_, owned, deleted = s.Counts()
	assert.Equal(t, []int{2, 2}, []int{owned, deleted})
	assert.Equal(t, dlpack.Tensor{}, view.Tensor())
}

// lies are invalid properties of an object; 0 of them leave a valid one.
var lies = map[string]struct {
	report func(UntrustedProducer)
	want   error
}{
	"ndim below 0":         {func(s UntrustedProducer) { s.Raw().NDim = -1 }, dlpack.ErrShape},
	"ndim beyond the most": {func(s UntrustedProducer) { s.Raw().NDim = dlpack.MaxNDim + 1 }, dlpack.ErrShape},
	"a wild ndim":          {func(s UntrustedProducer) { s.Raw().NDim = math.MaxInt32 }, dlpack.ErrShape},
	"no shape":             {func(s UntrustedProducer) { s.Raw().Shape = 0 }, dlpack.ErrShape},
	"no strides":           {func(s UntrustedProducer) { s.Raw().Strides = 0 }, dlpack.ErrShape},
	"a negative extent":    {func(s UntrustedProducer) { s.Shape()[1] = -3 }, dlpack.ErrShape},
	"too many elements": {func(s UntrustedProducer) { s.Shape()[0], s.Shape()[1] = math.MaxInt64, math.MaxInt64 },
		dlpack.ErrShape},
	"too many bytes": {func(s UntrustedProducer) { s.Shape()[0], s.Shape()[1] = math.MaxInt64, 1 },
		dlpack.ErrShape},
	"strides into nowhere": {func(s UntrustedProducer) { s.Strides()[0] = math.MinInt64 }, dlpack.ErrShape},
	"no data":              {func(s UntrustedProducer) { s.Raw().Data = 0 }, dlpack.ErrData},
	"a wild offset":        {func(s UntrustedProducer) { s.Raw().ByteOffset = math.MaxUint64 }, dlpack.ErrShape},
	"no bits":              {func(s UntrustedProducer) { s.Raw().DType.Bits = 0 }, dlpack.ErrDataType},
	"no lanes":             {func(s UntrustedProducer) { s.Raw().DType.Lanes = 0 }, dlpack.ErrDataType},
}

func TestExchangeBorrowBelievesNoShape(t *testing.T) {
	lending, _ := opened(t)
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			s := untrusted(t)
			var view dlpack.View
			require.NoError(t, lending.Borrow(&view, s.Object()))
			lie.report(s)
			require.ErrorIs(t, lending.Borrow(&view, s.Object()), lie.want)
			assert.Equal(t, dlpack.Tensor{}, view.Tensor())
			require.ErrorIs(t, owning(t).Borrow(&view, s.Object()), lie.want)
			assert.Equal(t, dlpack.Tensor{}, view.Tensor())
			_, owned, deleted := s.Counts()
			assert.Equal(t, []int{1, 1}, []int{owned, deleted})
		})
	}
}

// Views that are left over by the objects of a call may have been filled by an earlier call.
func TestAFailedBorrowAllEmptiesEveryView(t *testing.T) {
	api, _ := opened(t)
	good, bad := untrusted(t), untrusted(t)
	bad.Raw().NDim = -1
	for name, objects := range map[string][]uintptr{
		"rejected by the table's tensor": {good.Object(), bad.Object()},
		"no object":                      {good.Object(), 0},
		"nothing fits":                   {bad.Object()},
	} {
		t.Run(name, func(t *testing.T) {
			views := make([]dlpack.View, 4)
			require.NoError(t, api.BorrowAll(views, good.Object(), good.Object(), good.Object(), good.Object()))
			require.Error(t, api.BorrowAll(views, objects...))
			for i := range views {
				assert.Equal(t, dlpack.Tensor{}, views[i].Tensor(), "view %d", i)
			}
		})
	}
}

// A View has room for exactly the maximum number of dimensions.
func TestExchangeBorrowStaysInsideOfTheView(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	s.Raw().NDim = int32(len(s.Shape()))
	for i := range s.Shape() {
		s.Shape()[i], s.Strides()[i] = 7, 7
	}
	views := make([]dlpack.View, 2)
	require.ErrorIs(t, api.Borrow(&views[0], s.Object()), dlpack.ErrShape)
	assert.Equal(t, dlpack.Tensor{}, views[1].Tensor(), "the next one is untouched")
}

func TestExchangeViewsForgetTheLastObject(t *testing.T) {
	lending, _ := opened(t)
	s := untrusted(t)
	s.SetFlags(dlpack.FlagReadOnly)
	var view dlpack.View
	require.NoError(t, owning(t).Borrow(&view, s.Object()))
	assert.True(t, view.WritableTensor().IsReadOnly(), "its producer declares it")
	require.NoError(t, lending.Borrow(&view, s.Object()))
	assert.Equal(t, dlpack.FlagReadOnly, view.Tensor().Flags())
	assert.Zero(t, view.WritableTensor().Flags())
	_, owned, deleted := s.Counts()
	assert.Equal(t, []int{1, 1}, []int{owned, deleted})
}

// Rows that an older DLPack allowed.
func TestExchangeBorrowAcceptsNullStridesOfOldTables(t *testing.T) {
	api, table := opened(t)
	table.Header.Version.Minor = 1
	s := untrusted(t)
	s.Raw().Strides = 0
	var view dlpack.View
	require.NoError(t, api.Borrow(&view, s.Object()))
	assert.Nil(t, view.Tensor().Strides())
	assert.True(t, view.Tensor().IsContiguous())
}

func TestExchangeBorrowDetectsTablesThatReturnNothing(t *testing.T) {
	s := untrusted(t)
	lending, _ := opened(t)
	var view dlpack.View
	require.NoError(t, lending.Borrow(&view, s.Object()), "its fields must not be taken for the next object's")
	s.SetNothing(true)
	require.ErrorIs(t, lending.Borrow(&view, s.Object()), dlpack.ErrDataType)
	require.EqualError(t, owning(t).Borrow(&view, s.Object()),
		"dlpack: managed_tensor_from_py_object_no_sync: it returned success without a result")
	assert.Equal(t, dlpack.Tensor{}, view.Tensor())
}

func TestExchangeBorrowTouchesOnlyTheDeleterOfAnotherMajor(t *testing.T) {
	s := untrusted(t)
	s.SetVersion(dlpack.Version{Major: 2})
	var view dlpack.View
	err := owning(t).Borrow(&view, s.Object())
	require.ErrorIs(t, err, dlpack.ErrVersion)
	_, owned, deleted := s.Counts()
	assert.Equal(t, []int{1, 1}, []int{owned, deleted})
}

func TestExchangeBorrowAllHoldsAllOrNothing(t *testing.T) {
	for name, spoil := range map[string]func(UntrustedProducer){
		"rejected": func(s UntrustedProducer) { s.SetFails(-1) },
		"strange":  func(s UntrustedProducer) { s.SetFails(7) },
		"nothing":  func(s UntrustedProducer) { s.SetNothing(true) },
		"a lie":    func(s UntrustedProducer) { s.Shape()[0] = -1 },
		"a device": func(s UntrustedProducer) { s.Raw().Device.Type = dlpack.DeviceCUDA },
	} {
		t.Run(name, func(t *testing.T) {
			api, all := owning(t), []UntrustedProducer{untrusted(t), untrusted(t), untrusted(t)}
			views := make([]dlpack.View, 5)
			require.NoError(t, api.BorrowAll(views, all[0].Object(), all[1].Object(), all[2].Object()))
			spoil(all[1])
			Habits{Stream: FailUnreported}.Set()
			err := api.BorrowAll(views, all[0].Object(), all[1].Object(), all[2].Object())
			require.ErrorContains(t, err, "object 1: dlpack: ")
			for i := range views {
				assert.Equal(t, dlpack.Tensor{}, views[i].Tensor())
			}
			for i, s := range all {
				_, owned, deleted := s.Counts()
				if i == 1 && (name == "rejected" || name == "strange" || name == "nothing") {
					owned-- // there was none
				}
				assert.Equal(t, owned, deleted, "object %d", i)
			}
		})
	}
}

func TestExchangeBorrowChecksItsArguments(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	views := make([]dlpack.View, 2)
	require.EqualError(t, api.Borrow(&views[0], 0), "dlpack: invalid argument: no object: address 0 is 0")
	require.EqualError(t, api.BorrowAll(views, s.Object(), 0), "dlpack: invalid argument: no object: address 1 is 0")
	require.EqualError(t, api.BorrowAll(views, 1, 2, 3), "dlpack: invalid argument: 3 objects for 2 views")
	require.ErrorIs(t, api.BorrowAll(views, 1, 2, 3), dlpack.ErrArgument)
	require.NoError(t, api.BorrowAll(nil))
	require.NoError(t, api.BorrowAll(views))
	borrowed, _, _ := s.Counts()
	assert.Zero(t, borrowed)
}
