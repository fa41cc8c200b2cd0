package gobind

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// collecting keeps the garbage collector running until the test ends.
func collecting(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		collector.Wait()
	})
}

// The shape of a view is stored in the View. Its Tensor keeps the View alive, although only a
// number points to it.
func TestExchangeViewsLiveAsLongAsTheirTensors(t *testing.T) {
	api, _ := opened(t)
	s := untrusted(t)
	collecting(t)
	var tensors []dlpack.Tensor
	for i := range 200 {
		view := new(dlpack.View)
		s.Shape()[0] = int64(i + 1)
		require.NoError(t, api.Borrow(view, s.Object()))
		tensors = append(tensors, view.Tensor())
	}
	var waste [][]int64
	for range 2000 {
		waste = append(waste, filled(160, -1))
	}
	runtime.KeepAlive(waste)
	for i, tensor := range tensors {
		require.Equal(t, []int64{int64(i + 1), 3}, tensor.Shape())
		require.Equal(t, []int64{3, 1}, tensor.Strides())
	}
}

// exchangeRound calls everything once on an object that all goroutines share.
func exchangeRound(t *testing.T, api dlpack.ExchangeAPI, object dlpack.Object, views []dlpack.View) {
	object.Retain()
	defer object.Release()
	o := uintptr(object)
	var m, made dlpack.Managed
	if !assert.NoError(t, api.BorrowAll(views, o, o, o)) || !assert.NoError(t, api.FromPyObject(&m, o)) {
		return
	}
	assert.Equal(t, views[2].Tensor().Addr(), m.Tensor().Addr())
	assert.Equal(t, []int64{2, 3}, views[1].Tensor().Shape())
	again, err := api.ToPyObject(&m)
	if assert.NoError(t, err) {
		assert.NoError(t, api.Borrow(&views[0], again))
		dlpack.Object(again).Release()
	}
	assert.NoError(t, api.Alloc(&made, dlpack.DTypeFloat32, cpu, 2, 3))
	made.Release()
	for i := range views {
		views[i].Release()
	}
}

// goHooks implement the C defaults in Go.
func goHooks(api dlpack.ExchangeAPI) dlpack.Producer {
	return dlpack.Producer{
		Allocate: func(_ dlpack.DataType, _ dlpack.Device, shape []int64) (*dlpack.DLManagedTensorVersioned, error) {
			return dlpack.Export(make([]float32, 6), shape...)
		},
		FromPyObject: func(object uintptr) (*dlpack.DLManagedTensorVersioned, error) {
			var m dlpack.Managed
			if err := api.FromPyObject(&m, object); err != nil {
				return nil, err
			}
			p, _ := m.Detach()
			return p, nil
		},
		ToPyObject: func(m *dlpack.Managed) (uintptr, error) {
			object, err := dlpack.NewObject(m)
			return uintptr(object), err
		},
		Borrow: func(object uintptr) (dlpack.DLTensor, error) {
			t, rc := CallBorrow(api.Raw(), object)
			if rc != 0 {
				return t, dlpack.ErrArgument
			}
			return t, nil
		},
		CurrentWorkStream: api.CurrentWorkStream,
	}
}

// Goroutines and C threads share an object while the garbage collector runs.
func TestExchangeConcurrently(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 40
	}
	inC, err := dlpack.FindExchangeAPI(&plainTable().Header)
	require.NoError(t, err)
	inGo := hooked(t, goHooks(inC))
	collecting(t)
	for name, api := range map[string]dlpack.ExchangeAPI{"in C": inC, "in Go": inGo} {
		t.Run(name, func(t *testing.T) {
			f, before := foreign(t), dlpack.Drain()
			object := objectOf(t, f)
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					views := make([]dlpack.View, 3)
					for range rounds {
						exchangeRound(t, api, object, views)
					}
				})
			}
			workers.Go(func() { assert.Zero(t, CallOnThreads(api.Raw(), uintptr(object), rounds, 4)) })
			workers.Wait()
			assert.Zero(t, f.Deleted())
			object.Release()
			assert.Equal(t, 1, f.Deleted())
			assert.Equal(t, before, dlpack.Drain())
		})
	}
}
