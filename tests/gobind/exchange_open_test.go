package gobind

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// opened creates and opens a foreign table.
func opened(t *testing.T) (dlpack.ExchangeAPI, *dlpack.DLPackExchangeAPI) {
	t.Helper()
	table := NewStrangeTable()
	require.NotNil(t, table)
	api, err := dlpack.FindExchangeAPI(&table.Header)
	require.NoError(t, err)
	t.Cleanup(Habits{}.Set)
	return api, table
}

// chained creates a chain of headers with the given major versions, without readable memory after
// them, which ends with older.
func chained(t *testing.T, older *dlpack.DLPackExchangeAPIHeader, majors ...uint32) *dlpack.DLPackExchangeAPIHeader {
	t.Helper()
	for i := len(majors) - 1; i >= 0; i-- {
		header := HeaderAlone(majors[i])
		require.NotNil(t, header, "C could not map the pages")
		header.PrevAPI = uintptr(unsafe.Pointer(older))
		older = header
	}
	return older
}

func repeated(n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i + dlpack.MajorVersion + 1)
	}
	return all
}

func TestExchangeOpenUsesTheFirstTableOfOurMajor(t *testing.T) {
	table := NewStrangeTable()
	table.Header.PrevAPI = uintptr(unsafe.Pointer(chained(t, nil, dlpack.MajorVersion))) // must not be read
	for name, newest := range map[string]*dlpack.DLPackExchangeAPIHeader{
		"alone":                &table.Header,
		"behind a newer one":   chained(t, &table.Header, dlpack.MajorVersion+1),
		"behind many":          chained(t, &table.Header, 9, 7, 5, 3),
		"behind an older one":  chained(t, &table.Header, 0),
		"at the end of the 64": chained(t, &table.Header, repeated(63)...),
	} {
		t.Run(name, func(t *testing.T) {
			api, err := dlpack.FindExchangeAPI(newest)
			require.NoError(t, err)
			assert.Same(t, table, api.Raw())
			assert.Same(t, table, FindTable(newest), "C and Go agree")
		})
	}
}

func TestExchangeOpenAcceptsAnyMinor(t *testing.T) {
	table := NewStrangeTable()
	table.Header.Version.Minor = 99
	_, err := dlpack.FindExchangeAPI(&table.Header)
	require.NoError(t, err)
}

func TestExchangeOpenRejectsAChain(t *testing.T) {
	table := NewStrangeTable()
	ring := chained(t, nil, 2, 3, 4)
	last := (*dlpack.DLPackExchangeAPIHeader)(unsafe.Pointer(ring))
	for range 2 {
		last = *(**dlpack.DLPackExchangeAPIHeader)(unsafe.Pointer(&last.PrevAPI))
	}
	last.PrevAPI = uintptr(unsafe.Pointer(ring))
	self := chained(t, nil, 2)
	self.PrevAPI = uintptr(unsafe.Pointer(self))
	for name, test := range map[string]struct {
		newest *dlpack.DLPackExchangeAPIHeader
		want   error
		text   string
	}{
		"nil":         {nil, dlpack.ErrArgument, "dlpack: invalid argument: no exchange table: the pointer is nil"},
		"a newer one": {chained(t, nil, 2), dlpack.ErrVersion, "2.0, with no older table; this package supports 1.x"},
		"others":      {chained(t, nil, 3, 2, 0), dlpack.ErrVersion, "3.0, with no older table"},
		"a ring": {ring, dlpack.ErrTable,
			"no table of version 1 among the first 64 of the chain, which may be a cycle"},
		"itself":   {self, dlpack.ErrTable, "may be a cycle"},
		"the 65th": {chained(t, &table.Header, repeated(64)...), dlpack.ErrTable, "the first 64"},
	} {
		t.Run(name, func(t *testing.T) {
			api, err := dlpack.FindExchangeAPI(test.newest)
			require.ErrorIs(t, err, test.want)
			assert.ErrorContains(t, err, test.text)
			assert.Nil(t, api.Raw())
			assert.Nil(t, FindTable(test.newest), "C and Go agree")
		})
	}
}

func TestExchangeOpenRejectsWildAddresses(t *testing.T) {
	wild := unsafe.Add(unsafe.Pointer(NewStrangeTable()), 4)
	_, err := dlpack.FindExchangeAPI((*dlpack.DLPackExchangeAPIHeader)(wild))
	require.ErrorIs(t, err, dlpack.ErrArgument)
	header := chained(t, nil, 2)
	header.PrevAPI = uintptr(wild)
	_, err = dlpack.FindExchangeAPI(header)
	require.ErrorIs(t, err, dlpack.ErrArgument)
}

func TestExchangeOpenRequiresAllFunctionsButOne(t *testing.T) {
	for name, remove := range map[string]func(*dlpack.DLPackExchangeAPI){
		"managed_tensor_allocator": func(a *dlpack.DLPackExchangeAPI) { a.ManagedTensorAllocator = 0 },
		"managed_tensor_from_py_object_no_sync": func(a *dlpack.DLPackExchangeAPI) {
			a.ManagedTensorFromPyObjectNoSync = 0
		},
		"managed_tensor_to_py_object_no_sync": func(a *dlpack.DLPackExchangeAPI) {
			a.ManagedTensorToPyObjectNoSync = 0
		},
		"current_work_stream": func(a *dlpack.DLPackExchangeAPI) { a.CurrentWorkStream = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			table := NewStrangeTable()
			remove(table)
			_, err := dlpack.FindExchangeAPI(&table.Header)
			require.ErrorIs(t, err, dlpack.ErrTable)
			require.EqualError(t, err, "dlpack: no usable exchange table: its "+name+" is NULL")
			assert.Nil(t, FindTable(&table.Header))
		})
	}
	table := NewStrangeTable()
	table.DLTensorFromPyObjectNoSync = 0
	_, err := dlpack.FindExchangeAPI(&table.Header)
	require.NoError(t, err)
}

func TestExchangeWithoutATable(t *testing.T) {
	var api dlpack.ExchangeAPI
	var view dlpack.View
	var managed dlpack.Managed
	f := foreign(t)
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	_, wrapped := api.ToPyObject(m)
	_, streamed := api.CurrentWorkStream(dlpack.Device{})
	for _, err := range []error{api.Borrow(&view, 1), api.BorrowAll(nil), api.FromPyObject(&managed, 1),
		api.Alloc(&managed, dlpack.DTypeInt8, dlpack.Device{Type: dlpack.DeviceCPU}), wrapped, streamed} {
		require.EqualError(t, err, "dlpack: invalid argument: this ExchangeAPI has no table")
	}
	assert.Zero(t, f.Deleted(), "Wrap did not take the tensor over")
}
