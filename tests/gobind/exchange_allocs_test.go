package gobind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// None of the calls allocates, for any table.
func TestExchangeCallsDoNotAllocate(t *testing.T) {
	skipSanitized(t)
	api, table := opened(t)
	s := untrusted(t)
	var view dlpack.View
	var m dlpack.Managed
	views := make([]dlpack.View, 3)
	object := s.Object()
	shape := []int64{2, 3}
	calls := map[string]func() error{
		"Borrow":    func() error { return api.Borrow(&view, object) },
		"BorrowAll": func() error { return api.BorrowAll(views, object, object, object) },
		"Managed": func() error {
			defer m.Release()
			return api.FromPyObject(&m, object)
		},
		"Alloc": func() error {
			defer m.Release()
			return api.Alloc(&m, dlpack.DTypeFloat32, cpu, shape...)
		},
		"Stream": func() error {
			_, err := api.CurrentWorkStream(dlpack.Device{Type: dlpack.DeviceCUDA})
			return err
		},
	}
	for _, exports := range []string{"lending", "owning"} {
		for name, call := range calls {
			t.Run(exports+" "+name, func(t *testing.T) {
				assert.Zero(t, testing.AllocsPerRun(100, func() {
					if err := call(); err != nil {
						t.Fatal(err)
					}
				}))
			})
		}
		table.DLTensorFromPyObjectNoSync = 0
	}
	for i := range views {
		views[i].Release()
	}
	view.Release()
	_, owned, deleted := s.Counts()
	assert.Equal(t, owned, deleted)
}

func TestExchangeWithOneselfDoesNotAllocate(t *testing.T) {
	skipSanitized(t)
	api, err := dlpack.FindExchangeAPI(&plainTable().Header)
	require.NoError(t, err)
	f := foreign(t)
	object := objectOf(t, f)
	defer object.Release()
	var view dlpack.View
	var m dlpack.Managed
	for name, call := range map[string]func() error{
		"Borrow": func() error { return api.Borrow(&view, uintptr(object)) },
		"Managed": func() error {
			defer m.Release()
			return api.FromPyObject(&m, uintptr(object))
		},
		"Alloc and Wrap": func() error {
			if err := api.Alloc(&m, dlpack.DTypeFloat32, cpu, 2, 3); err != nil {
				return err
			}
			made, err := api.ToPyObject(&m)
			dlpack.Object(made).Release()
			return err
		},
		"NewObject": func() error {
			if err := api.FromPyObject(&m, uintptr(object)); err != nil {
				return err
			}
			made, err := dlpack.NewObject(&m)
			made.Retain()
			made.Release()
			made.Release()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}))
		})
	}
}

func skipSanitized(t *testing.T) {
	t.Helper()
	if sanitized {
		t.Skip("a sanitizer allocates where the plain program does not")
	}
}
