package gobind

import (
	"math"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// strided imports a Go tensor with the given options.
func strided[T dlpack.Element](t *testing.T, data []T, o dlpack.ExportOptions) dlpack.Tensor {
	t.Helper()
	p, err := dlpack.ExportWith(data, o)
	return imported(t, p, err)
}

func TestStridedGivesTheMemoryFromTheFirstElementToTheLast(t *testing.T) {
	data := make([]float64, 40)
	for i := range data {
		data[i] = float64(i)
	}
	for name, test := range map[string]struct {
		shape, strides []int64
		want           []int64 // strides
		count          int
	}{
		"padded rows":               {[]int64{3, 4}, []int64{6, 1}, []int64{6, 1}, 16},
		"padded columns":            {[]int64{4, 3}, []int64{1, 6}, []int64{1, 6}, 16},
		"dense":                     {[]int64{3, 4}, []int64{4, 1}, []int64{4, 1}, 12},
		"one row, odd stride":       {[]int64{1, 4}, []int64{0, 1}, []int64{4, 1}, 4},
		"one column, odd stride":    {[]int64{3, 1}, []int64{6, -77}, []int64{6, 1}, 13},
		"one element, odd strides":  {[]int64{1, 1}, []int64{-5, 99}, []int64{1, 1}, 1},
		"broadcast":                 {[]int64{3, 4}, []int64{0, 1}, []int64{0, 1}, 4},
		"a scalar":                  {[]int64{}, []int64{}, []int64{}, 1},
		"three dimensions":          {[]int64{2, 3, 4}, []int64{18, 6, 1}, []int64{18, 6, 1}, 34},
		"gaps in the last":          {[]int64{5}, []int64{3}, []int64{3}, 13},
		"one element in the middle": {[]int64{2, 1, 4}, []int64{9, -1, 1}, []int64{9, 4, 1}, 13},
	} {
		t.Run(name, func(t *testing.T) {
			tensor := strided(t, data, dlpack.ExportOptions{Shape: test.shape, Strides: test.strides, Offset: 2})
			got, strides, err := dlpack.WritableStrided[float64](tensor)
			require.NoError(t, err)
			assert.Equal(t, test.want, strides)
			require.Len(t, got, test.count)
			assert.Same(t, &data[2], &got[0])
			assert.Equal(t, unsafe.Pointer(&data[2]), tensor.Pointer())
		})
	}
}

func TestStridedRejections(t *testing.T) {
	backwards := strided(t, make([]float32, 6),
		dlpack.ExportOptions{Shape: []int64{2, 3}, Strides: []int64{-3, 1}, Offset: 3})
	_, _, err := dlpack.Strided[float32](backwards)
	require.ErrorIs(t, err, dlpack.ErrNotContiguous)
	require.ErrorContains(t, err, "stride -3 of dimension 0 is negative")
	_, _, err = dlpack.Strided[float64](backwards)
	require.ErrorIs(t, err, dlpack.ErrDataType)
	_, _, err = dlpack.Strided[float32](dlpack.Tensor{})
	require.ErrorIs(t, err, dlpack.ErrReleased)
	readOnly := strided(t, []float32{1}, dlpack.ExportOptions{Flags: dlpack.FlagReadOnly})
	_, _, err = dlpack.WritableStrided[float32](readOnly)
	require.ErrorIs(t, err, dlpack.ErrReadOnly)
	require.ErrorIs(t, dlpack.Copy[float32](readOnly, readOnly), dlpack.ErrReadOnly)
}

func TestTensorsInDeviceMemoryHaveNoPointer(t *testing.T) {
	gpu := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.Device.Type = dlpack.DeviceCUDA })
	assert.Nil(t, gpu.Pointer())
	_, _, err := dlpack.Strided[float32](gpu)
	require.ErrorIs(t, err, dlpack.ErrDevice)
	empty := spoiled(t, func(f Foreign) {
		f.Reshape([]int64{2, 0, 3}, []int64{9, -9, 9})
		f.Versioned().DLTensor.Data = 0
	})
	assert.Nil(t, empty.Pointer())
	values, strides, err := dlpack.Strided[float32](empty)
	require.NoError(t, err)
	assert.Empty(t, values)
	assert.Len(t, strides, 3)
}

func TestTensorOfKeepsItsSlice(t *testing.T) {
	tensor, err := dlpack.TensorOf(append(make([]int16, 0, 6), 1, 2, 3, 4, 5, 6), 1, 2, 3)
	require.NoError(t, err)
	collect(1)
	assert.Equal(t, []int64{6, 3, 1}, tensor.Strides())
	values, err := dlpack.WritableData[int16](tensor)
	require.NoError(t, err)
	assert.Equal(t, []int16{1, 2, 3, 4, 5, 6}, values)
	for _, shape := range [][]int64{{2}, {-1, -6}, {math.MaxInt64, 3}, {0}, make([]int64, dlpack.MaxNDim+1)} {
		_, err := dlpack.TensorOf(values, shape...)
		require.ErrorIs(t, err, dlpack.ErrShape, "%v", shape)
	}
	for _, empty := range [][]int16{nil, {}} {
		tensor, err = dlpack.TensorOf(empty, 2, 0, 5)
		require.NoError(t, err)
		assert.Equal(t, []int64{5, 5, 1}, tensor.Strides(), "as those of NumPy and PyTorch")
		tensor, err = dlpack.TensorOf(empty, 3, 0)
		require.NoError(t, err)
		assert.Zero(t, tensor.Len())
		assert.Nil(t, tensor.Pointer())
	}
	scalar, err := dlpack.TensorOf([]int16{7}, []int64{}...)
	require.NoError(t, err)
	assert.Equal(t, 0, scalar.NDim())
}

// A shape without extents is a scalar's, not a missing one.
func TestTheShapeOfATensorIsThatOfAnother(t *testing.T) {
	for _, shape := range [][]int64{{}, {1}, {1, 1}} {
		scalar := strided(t, []int32{7}, dlpack.ExportOptions{Shape: shape})
		into, err := dlpack.TensorOf([]int32{0}, scalar.Shape()...)
		require.NoError(t, err)
		assert.Equal(t, len(shape), into.NDim())
		require.NoError(t, dlpack.Copy[int32](into, scalar))
		p, err := dlpack.Export([]int32{7}, scalar.Shape()...)
		assert.Equal(t, len(shape), imported(t, p, err).NDim())
		again := strided(t, []int32{7}, dlpack.ExportOptions{Shape: scalar.Shape(), Strides: scalar.Strides()})
		assert.Equal(t, len(shape), again.NDim())
	}
	assert.Empty(t, dlpack.Tensor{}.Shape())
}

// Every layout is copied to every other one.
func TestCopyGoesBetweenAnyStrides(t *testing.T) {
	layouts := map[string]dlpack.ExportOptions{
		"dense":      {Shape: []int64{2, 3, 4}},
		"padded":     {Shape: []int64{2, 3, 4}, Strides: []int64{20, 6, 1}},
		"columns":    {Shape: []int64{2, 3, 4}, Strides: []int64{1, 2, 6}},
		"backwards":  {Shape: []int64{2, 3, 4}, Strides: []int64{-12, 4, -1}, Offset: 15},
		"every 2nd":  {Shape: []int64{2, 3, 4}, Strides: []int64{24, 8, 2}},
		"transposed": {Shape: []int64{2, 3, 4}, Strides: []int64{4, 8, 1}},
	}
	counted := make([]int32, 24)
	for i := range counted {
		counted[i] = int32(i + 1)
	}
	source, err := dlpack.TensorOf(counted, 2, 3, 4)
	require.NoError(t, err)
	for from, a := range layouts {
		for to, b := range layouts {
			x, y := strided(t, make([]int32, room(a)), a), strided(t, make([]int32, room(b)), b)
			require.NoError(t, dlpack.Copy[int32](x, source))
			require.NoError(t, dlpack.Copy[int32](y, x))
			got := make([]int32, 24)
			back, err := dlpack.TensorOf(got, 2, 3, 4)
			require.NoError(t, err)
			require.NoError(t, dlpack.Copy[int32](back, y))
			assert.Equal(t, counted, got, "%s to %s", from, to)
		}
	}
}

// room is the number of elements for a layout; a layout without strides must be filled.
func room(o dlpack.ExportOptions) int {
	if o.Strides == nil {
		return 24
	}
	return 64
}

func TestCopyRejections(t *testing.T) {
	a, b := strided(t, make([]int32, 6), dlpack.ExportOptions{Shape: []int64{2, 3}}), strided(t, make([]int32, 6),
		dlpack.ExportOptions{Shape: []int64{3, 2}})
	require.EqualError(t, dlpack.Copy[int32](a, b),
		"dlpack: invalid shape or strides: [2 3] to copy to, [3 2] to copy from")
	require.ErrorIs(t, dlpack.Copy[int64](a, b), dlpack.ErrDataType)
	require.ErrorIs(t, dlpack.Copy[int32](a, dlpack.Tensor{}), dlpack.ErrReleased)
	scalar, err := dlpack.TensorOf([]int32{7}, []int64{}...)
	require.NoError(t, err)
	into, err := dlpack.TensorOf([]int32{0}, []int64{}...)
	require.NoError(t, err)
	require.NoError(t, dlpack.Copy[int32](into, scalar))
	seven, err := dlpack.At[int32](into)
	require.NoError(t, err)
	assert.Equal(t, int32(7), seven)
}

// The examples with gonum and OpenBLAS are a separate module, so that no other package needs them.
func TestExamplesWithBLAS(t *testing.T) {
	skipShort(t)
	skipFatal(t)
	link := exec.Command("cc", "-x", "c", "-o", "/dev/null", "-", "-lopenblas")
	link.Stdin = strings.NewReader("#include <cblas.h>\nint main(void) { return openblas_get_num_threads() < 0; }\n")
	if out, err := link.CombinedOutput(); err != nil {
		t.Skipf("needs OpenBLAS: apt-get install libopenblas-dev\n%s", out)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = "../blas"
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("mod", "download"); err != nil {
		t.Skipf("needs gonum, from a module proxy: %s", out)
	}
	for _, flags := range [][]string{{"-vet=all"}, {"-vet=off", "-gcflags=github.com/dlpackgen/...=-d=checkptr"}} {
		if flags[0] == "-vet=off" && !tier.IsNightly() {
			continue
		}
		out, err := run(append(append([]string{"test", "-count=1", "-timeout=0"}, flags...), "./...")...)
		require.NoError(t, err, out)
	}
}
