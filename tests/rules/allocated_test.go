package rules

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// allocated is the next result of the allocator of goTable.
var (
	allocated *dlpack.DLManagedTensorVersioned
	calling   sync.Mutex // guards allocated
)

var goTable = sync.OnceValues(func() (*dlpack.DLPackExchangeAPI, error) {
	return dlpack.NewExchangeAPI(dlpack.Producer{
		Allocate: func(dlpack.DataType, dlpack.Device, []int64) (*dlpack.DLManagedTensorVersioned, error) {
			return allocated, nil
		},
	})
})

// acceptsInGo reports whether Go accepts a tensor that an exchange table has allocated.
func acceptsInGo(made *dlpack.DLManagedTensorVersioned, requested *dlpack.DLTensor, shape []int64) bool {
	table, err := goTable()
	if err != nil {
		return false
	}
	api, err := dlpack.FindExchangeAPI(&table.Header)
	if err != nil {
		return false
	}
	calling.Lock()
	defer calling.Unlock()
	allocated = made
	var m dlpack.Managed
	err = api.Alloc(&m, requested.DType, requested.Device, shape...)
	m.Release()
	return err == nil
}

// allocation is a request, and the result of an exchange table's allocator for it.
type allocation struct {
	dtype, got         dlpack.DataType
	device, on         dlpack.Device
	shape, has         []int64
	strides            []int64 // of the result
	flags              dlpack.Flags
	older              bool // the producer is older than 1.2, and sets no strides
	withoutMemory, bad bool // bad: it does not match the request
}

// matching is an allocation whose result matches its request, with a change.
func matching(change func(a *allocation)) allocation {
	cpu := dlpack.Device{Type: dlpack.DeviceCPU}
	a := allocation{dtype: dlpack.DTypeFloat32, got: dlpack.DTypeFloat32, device: cpu, on: cpu, shape: []int64{2, 3},
		has: []int64{2, 3}, strides: []int64{3, 1}}
	change(&a)
	return a
}

// bad is the allocation of matching with a change that every language must detect.
func bad(change func(a *allocation)) allocation {
	a := matching(change)
	a.bad = true
	return a
}

var int4 = dlpack.DataType{Code: dlpack.CodeInt, Bits: 4, Lanes: 1}

func ofManaged(a *allocation) {
	a.device, a.on = dlpack.Device{Type: dlpack.DeviceCUDAManaged}, dlpack.Device{Type: dlpack.DeviceCUDAManaged, ID: 1}
}

var allocations = map[string]allocation{
	"as requested":       matching(func(*allocation) {}),
	"a copy":             matching(func(a *allocation) { a.flags = dlpack.FlagIsCopied }),
	"a padded float32":   matching(func(a *allocation) { a.flags = dlpack.FlagIsSubbyteTypePadded }),
	"a packed int4":      matching(func(a *allocation) { a.dtype, a.got = int4, int4 }),
	"NULL strides":       matching(func(a *allocation) { a.strides, a.older = nil, true }),
	"any id if managed":  matching(ofManaged),
	"any stride of one":  matching(func(a *allocation) { a.shape[0], a.has[0], a.strides[0] = 1, 1, 99 }),
	"any stride if none": matching(func(a *allocation) { a.shape[0], a.has[0], a.strides = 0, 0, []int64{7, 0} }),
	"read-only":          bad(func(a *allocation) { a.flags = dlpack.FlagReadOnly }),
	"a padded int4": bad(func(a *allocation) {
		a.dtype, a.got, a.flags = int4, int4, dlpack.FlagIsSubbyteTypePadded
	}),
	"stride 0":          bad(func(a *allocation) { a.strides[0] = 0 }),
	"column-major":      bad(func(a *allocation) { a.strides = []int64{1, 2} }),
	"with gaps":         bad(func(a *allocation) { a.strides[0] = 4 }),
	"the CPU's id 1":    bad(func(a *allocation) { a.on.ID = 1 }),
	"no id of the CPU":  bad(func(a *allocation) { a.device.ID = 1 }),
	"another device":    bad(func(a *allocation) { a.on.Type = dlpack.DeviceCUDA }),
	"pinned":            bad(func(a *allocation) { a.on.Type = dlpack.DeviceCUDAHost }),
	"managed":           bad(func(a *allocation) { a.on.Type = dlpack.DeviceCUDAManaged }),
	"another code":      bad(func(a *allocation) { a.got = dlpack.DTypeInt32 }),
	"other bits":        bad(func(a *allocation) { a.got.Bits = 16 }),
	"other lanes":       bad(func(a *allocation) { a.got.Lanes = 2 }),
	"another shape":     bad(func(a *allocation) { a.has, a.strides = []int64{3, 2}, []int64{2, 1} }),
	"a scalar":          bad(func(a *allocation) { a.has, a.strides = nil, nil }),
	"one dimension":     bad(func(a *allocation) { a.has, a.strides = []int64{6}, []int64{1} }),
	"no memory":         bad(func(a *allocation) { a.withoutMemory = true }),
	"an invalid stride": bad(func(a *allocation) { a.strides[0] = 1 << 62 }),
}

// acceptingAllocation returns the languages that accept an allocation, and the number of calls of
// the result's deleter.
func (l languages) acceptingAllocation(a allocation) (names []string, deleted int) {
	request, made := gobind.NewForeign(), gobind.NewForeign()
	defer request.Free()
	defer made.Free()
	request.Reshape(a.shape, nil)
	requested := &request.Versioned().DLTensor
	requested.DType, requested.Device = a.dtype, a.device
	made.Reshape(a.has, a.strides)
	m := made.Versioned()
	m.DLTensor.DType, m.DLTensor.Device, m.Flags = a.got, a.on, a.flags
	if a.older {
		m.Version.Minor = 1
	}
	if a.withoutMemory {
		m.DLTensor.Data = 0
	}
	for name, accepts := range map[string]bool{
		"C": l.c.Accepts(m, requested), "C++": l.cxx.Accepts(m, requested),
		"Python": l.python != nil && l.python.Accepts(m, requested), "Go": acceptsInGo(m, requested, a.shape),
	} {
		if accepts {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, made.Deleted()
}

// judge returns the first allocation that a language judges wrongly, or leaks.
func (l languages) judge() (what string) {
	all := []string{"C", "C++", "Go"}
	if l.python != nil {
		all = append(all, "Python")
	}
	for _, name := range slices.Sorted(maps.Keys(allocations)) {
		expected := all
		if allocations[name].bad {
			expected = nil
		}
		names, deleted := l.acceptingAllocation(allocations[name])
		if !slices.Equal(names, expected) || deleted != len(all)-1 { // C takes no ownership
			return fmt.Sprintf("%s: accepted by %v, expected %v of %v; deleted %d times", name, names, expected,
				all, deleted)
		}
	}
	return ""
}

// All languages accept the same results of a foreign allocator, because callers write to them and
// rely on their properties.
func TestLanguagesAcceptTheSameAllocations(t *testing.T) { assert.Empty(t, withPython(t).judge()) }
