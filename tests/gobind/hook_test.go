package gobind

import (
	"bytes"
	"log"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

func TestOnReleaseRunsOnceWhereTheDeleterIsCalled(t *testing.T) {
	var calls atomic.Int32
	o := dlpack.ExportOptions{OnRelease: func() { calls.Add(1) }}
	p := must(dlpack.ExportWith([]int8{1, 2}, o))(t)
	assert.Zero(t, calls.Load())
	ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{p}, 1)
	assert.Equal(t, int32(1), calls.Load(), "when the deleter returns it has run")

	legacy := must(dlpack.ExportLegacy([]int8{1}, o))(t)
	ConsumeLegacy(legacy)
	assert.Equal(t, int32(2), calls.Load())

	before, during := dlpack.Drain(), -1
	Consume(must(dlpack.ExportWith([]int8{1}, dlpack.ExportOptions{OnRelease: func() { during = dlpack.Drain() }}))(t))
	assert.Equal(t, before, during, "its tensor is gone by then")

	b := alloc[float32](t, 2)
	Consume(must(b.ExportWith(o))(t))
	assert.Equal(t, int32(3), calls.Load())

	m, err := dlpack.Import(must(dlpack.ExportWith([]int8{1}, o))(t))
	require.NoError(t, err)
	m.Release()
	assert.Equal(t, int32(4), calls.Load())
}

func TestOnReleaseIsNotCalledForWhatWasNotExported(t *testing.T) {
	before := dlpack.Drain()
	o := dlpack.ExportOptions{Shape: []int64{9}, OnRelease: func() { t.Error("called") }}
	_, err := dlpack.ExportWith([]int8{1}, o)
	require.ErrorIs(t, err, dlpack.ErrShape)
	_, err = dlpack.ExportLegacy([]int8{1}, o)
	require.ErrorIs(t, err, dlpack.ErrShape)
	assert.Equal(t, before, dlpack.Drain())
}

// The slot is already free then, and the hook itself may take it.
func TestOnReleaseMayExport(t *testing.T) {
	before := dlpack.Drain()
	depth := 0
	var again func()
	again = func() {
		if depth++; depth < 50 {
			Consume(must(dlpack.ExportWith([]int{depth}, dlpack.ExportOptions{OnRelease: again}))(t))
			dlpack.Drain()
		}
	}
	again()
	assert.Equal(t, 50, depth)
	assert.Equal(t, before, dlpack.Drain())
}

func TestAPanicInOnReleaseGoesNoFurther(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	o := dlpack.ExportOptions{OnRelease: func() { panic("out of cheese") }}
	Consume(must(dlpack.ExportWith([]int8{1}, o))(t))
	ConsumeOnThreads([]*dlpack.DLManagedTensorVersioned{must(dlpack.ExportWith([]int8{1}, o))(t)}, 1)
	assert.Equal(t, 2, bytes.Count(logged.Bytes(), []byte("dlpack: panic in OnRelease: out of cheese\n")))
	assert.Contains(t, logged.String(), "hook_test.go", "with the stack")
}

func TestManyDimensionsWithAHook(t *testing.T) {
	calls := 0
	shape := make([]int64, dlpack.MaxNDim)
	for i := range shape {
		shape[i] = 1
	}
	p := must(dlpack.ExportWith([]int8{1}, dlpack.ExportOptions{Shape: shape, OnRelease: func() { calls++ }}))(t)
	m, err := dlpack.Import(p)
	require.NoError(t, err)
	assert.Equal(t, shape, m.Tensor().Shape())
	m.Release()
	assert.Equal(t, 1, calls)
}
