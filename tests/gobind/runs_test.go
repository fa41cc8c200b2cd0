package gobind

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// grid is a shape with strides, and the required length of a slice.
type grid struct {
	shape, strides []int64
	before, after  int64
}

// gridOf derives a grid from any bytes: two for each of at most six dimensions.
func gridOf(code []byte) grid {
	var g grid
	for ; len(code) >= 2 && len(g.shape) < 6; code = code[2:] {
		extent, stride := int64(code[0]%5), int64(int8(code[1])%12)
		if code[0] >= 128 && len(g.shape) > 0 {
			last := len(g.shape) - 1
			g.strides[last] = stride * extent // so that some dimensions can be merged
		}
		g.shape = append(g.shape, extent)
		g.strides = append(g.strides, stride)
	}
	if slices.Contains(g.shape, 0) {
		return g
	}
	for i, stride := range g.strides {
		reach := (g.shape[i] - 1) * stride
		g.before += max(-reach, 0)
		g.after += max(reach, 0)
	}
	return g
}

func (g grid) room() int {
	if slices.Contains(g.shape, 0) {
		return 0
	}
	return int(g.before + g.after + 1)
}

// tensor counts upwards from 0 in memory order.
func (g grid) tensor(t *testing.T) dlpack.Tensor {
	t.Helper()
	data := make([]int32, g.room())
	for i := range data {
		data[i] = int32(i)
	}
	p, err := dlpack.ExportWith(data,
		dlpack.ExportOptions{Shape: append([]int64{}, g.shape...), Strides: append([]int64{}, g.strides...),
			Offset: int(g.before)})
	return imported(t, p, err)
}

// each visits the indices in row-major order, with the position in memory.
func (g grid) each(visit func(indices []int64, place int32)) {
	indices := make([]int64, len(g.shape))
	var below func(dim int, place int64)
	below = func(dim int, place int64) {
		if dim == len(g.shape) {
			visit(indices, int32(place))
			return
		}
		for i := range g.shape[dim] {
			indices[dim] = i
			below(dim+1, place+i*g.strides[dim])
		}
	}
	below(0, g.before)
}

// places are the values of all elements in row-major order.
func (g grid) places() (places []int32) {
	g.each(func(_ []int64, place int32) { places = append(places, place) })
	return places
}

// run is the maximum length of runs: as many trailing dimensions as are consecutive.
func (g grid) run() int {
	places, run, product := g.places(), 1, 1
	for i := len(g.shape) - 1; i >= 0; i-- {
		product *= int(g.shape[i])
		for k := range product {
			if places[k] != places[0]+int32(k) {
				return run
			}
		}
		run = product
	}
	return run
}

// checkRuns compares runs with an iteration over all indices.
func checkRuns(t *testing.T, g grid) {
	t.Helper()
	seq, err := dlpack.Runs[int32](g.tensor(t))
	require.NoError(t, err)
	want := g.places()
	for range 2 { // the sequence is reusable
		var got []int32
		for run := range seq {
			require.Len(t, run, g.run(), "%+v", g)
			got = append(got, run...)
		}
		require.Equal(t, want, got, "%+v", g)
	}
}

func randomCode(random *rand.Rand) []byte {
	code := make([]byte, random.IntN(13))
	for i := range code {
		code[i] = byte(random.Uint32())
	}
	return code
}

func TestRunsAreTheElementsInOrder(t *testing.T) {
	random, rounds := rand.New(rand.NewPCG(1, 2)), 2000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		checkRuns(t, gridOf(randomCode(random)))
	}
}

func FuzzRuns(f *testing.F) {
	for _, seed := range []string{"", "\x03\x01", "\x02\x03\x03\x01", "\x03\xff", "\x04\x00\x02\x01",
		"\x00\x09\x03\x01", "\x01\x63\x82\x02\x03\x01"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) { checkRuns(t, gridOf(code)) })
}

func TestRunsOfKnownLayouts(t *testing.T) {
	tests := map[string]struct {
		shape, strides []int64
		runs, length   int
	}{
		"a scalar":                   {[]int64{}, []int64{}, 1, 1},
		"dense":                      {[]int64{2, 3, 4}, []int64{12, 4, 1}, 1, 24},
		"rows with a gap":            {[]int64{2, 3, 4}, []int64{15, 5, 1}, 6, 4},
		"planes with a gap":          {[]int64{2, 3, 4}, []int64{20, 4, 1}, 2, 12},
		"column-major":               {[]int64{2, 3}, []int64{1, 2}, 6, 1},
		"backwards":                  {[]int64{6}, []int64{-1}, 6, 1},
		"rows backwards":             {[]int64{2, 3}, []int64{-3, 1}, 2, 3},
		"broadcast rows":             {[]int64{4, 3}, []int64{0, 1}, 4, 3},
		"broadcast columns":          {[]int64{2, 3}, []int64{1, 0}, 6, 1},
		"every second":               {[]int64{6}, []int64{2}, 6, 1},
		"dimensions of one, garbage": {[]int64{1, 2, 1, 3, 1}, []int64{99, 3, -7, 1, 50}, 1, 6},
		"all of one":                 {[]int64{1, 1}, []int64{math.MaxInt64, math.MinInt64}, 1, 1},
		"empty":                      {[]int64{3, 0}, []int64{9, 9}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := grid{shape: test.shape, strides: test.strides}
			if name == "backwards" || name == "rows backwards" {
				g.before = 5
			}
			data := make([]int32, 64)
			p, err := dlpack.ExportWith(data,
				dlpack.ExportOptions{Shape: g.shape, Strides: g.strides, Offset: int(g.before)})
			runs, err := dlpack.Runs[int32](imported(t, p, err))
			require.NoError(t, err)
			count := 0
			for run := range runs {
				assert.Len(t, run, test.length)
				count++
			}
			assert.Equal(t, test.runs, count)
		})
	}
}

func TestAbsentStridesAreOneRun(t *testing.T) {
	f := foreign(t)
	f.Reshape([]int64{2, 3}, nil)
	m, err := dlpack.ImportLegacy(f.Legacy())
	require.NoError(t, err)
	defer m.Release()
	runs, err := dlpack.Runs[float32](m.Tensor())
	require.NoError(t, err)
	for run := range runs {
		assert.Len(t, run, 6)
		assert.Same(t, &f.Data()[0], &run[0])
	}
	f.Data()[5] = 7
	last, err := dlpack.At[float32](m.Tensor(), 1, 2)
	require.NoError(t, err)
	assert.Equal(t, float32(7), last)
	assert.Equal(t, int64(3), m.Tensor().Stride(0))
	assert.Equal(t, int64(1), m.Tensor().Stride(1))
	assert.Panics(t, func() { m.Tensor().Stride(2) })
}

// Without elements, there is no address: an empty tensor may have any.
func TestAnEmptyTensorHasNoRun(t *testing.T) {
	tensor := spoiled(t, func(f Foreign) {
		f.Reshape([]int64{3, 0}, []int64{1, 1})
		f.Versioned().DLTensor.ByteOffset = 1
	})
	runs, err := dlpack.Runs[float32](tensor)
	require.NoError(t, err)
	for range runs {
		t.Error("a run of nothing")
	}
}

func TestALoopOverRunsMayEndEarly(t *testing.T) {
	for _, shape := range [][]int64{{4, 3}, {2, 2, 3}} {
		strides := []int64{16, 8, 1}[3-len(shape):]
		p, err := dlpack.ExportWith(make([]int32, 40), dlpack.ExportOptions{Shape: shape, Strides: strides})
		runs, err := dlpack.Runs[int32](imported(t, p, err))
		require.NoError(t, err)
		for end := 1; end <= 4; end++ {
			count := 0
			for range runs {
				if count++; count == end {
					break
				}
			}
			assert.Equal(t, end, count)
		}
	}
}

// The sequence is allocated, but not its runs.
func TestRunsDoNotAllocateOneByOne(t *testing.T) {
	if sanitized {
		t.Skip("a sanitizer allocates where the plain program does not")
	}
	loop := func(rows int64) float64 {
		p, err := dlpack.ExportWith(make([]int32, 3000),
			dlpack.ExportOptions{Shape: []int64{rows, 2}, Strides: []int64{3, 1}})
		tensor := imported(t, p, err)
		sum := int32(0)
		return testing.AllocsPerRun(10, func() {
			runs, _ := dlpack.Runs[int32](tensor)
			for run := range runs {
				sum += run[0]
			}
		})
	}
	assert.Equal(t, loop(1), loop(1000))
	assert.LessOrEqual(t, loop(1), 3.0)
}

func TestMutableRunsWriteTheTensorAlone(t *testing.T) {
	data := make([]int32, 12)
	p, err := dlpack.ExportWith(data, dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{4, 1}, Offset: 1})
	runs, err := dlpack.WritableRuns[int32](imported(t, p, err))
	require.NoError(t, err)
	n := int32(0)
	for run := range runs {
		for i := range run {
			n++
			run[i] = n
		}
		assert.Equal(t, len(run), cap(run), "an append must not reach the neighbours")
	}
	assert.Equal(t, []int32{0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0}, data)
}

func TestRunsRejectWhatDataRejects(t *testing.T) {
	for name, test := range unreadable() {
		t.Run(name, func(t *testing.T) {
			tensor := spoiled(t, test.spoil)
			runs, err := dlpack.Runs[float32](tensor)
			require.ErrorIs(t, err, test.want)
			for range runs {
				t.Error("a run of unreadable memory")
			}
			_, err = dlpack.WritableRuns[float32](tensor)
			require.ErrorIs(t, err, test.want)
		})
	}
	runs, err := dlpack.WritableRuns[float32](spoiled(t, func(f Foreign) { f.Versioned().Flags = dlpack.FlagReadOnly }))
	require.ErrorIs(t, err, dlpack.ErrReadOnly)
	for range runs {
		t.Error("a run of read-only memory")
	}
}

func TestIsContiguousAndIsFContiguous(t *testing.T) {
	tests := map[string]struct {
		shape, strides     []int64
		dense, columnMajor bool
	}{
		"a scalar":         {nil, nil, true, true},
		"one dimension":    {[]int64{5}, []int64{1}, true, true},
		"row-major":        {[]int64{2, 3}, []int64{3, 1}, true, false},
		"column-major":     {[]int64{2, 3}, []int64{1, 2}, false, true},
		"absent strides":   {[]int64{2, 3}, nil, true, false},
		"absent, a column": {[]int64{2, 1}, nil, true, true},
		"a column":         {[]int64{3, 1}, []int64{1, 77}, true, true},
		"empty":            {[]int64{0, 3}, []int64{-1, 5}, true, true},
		"broadcast":        {[]int64{2, 3}, []int64{0, 1}, false, false},
		"backwards":        {[]int64{3}, []int64{-1}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := foreign(t)
			f.Reshape(test.shape, test.strides)
			f.Legacy().DLTensor.ByteOffset = 32
			m, err := dlpack.ImportLegacy(f.Legacy())
			require.NoError(t, err)
			defer m.Release()
			assert.Equal(t, test.dense, m.Tensor().IsContiguous())
			assert.Equal(t, test.columnMajor, m.Tensor().IsFContiguous())
		})
	}
}
