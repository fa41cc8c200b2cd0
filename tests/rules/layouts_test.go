package rules

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// layouts are the classes of a tensor's layout.
type layouts struct{ rowMajor, columnMajor, inner, anyOrder bool }

// mostPositions is the largest number of elements whose positions are compared one by one.
const mostPositions = 4096

// defined returns the results with the layouts of a valid tensor by their definitions: the
// positions of all elements or, if there are too many, their strides.
func defined(t dlpack.Tensor, like Measured) Measured {
	strides := make([]int64, t.NDim())
	for i := range strides {
		strides[i] = t.Stride(i)
	}
	is := layouts{true, true, true, true}
	switch {
	case t.Len() == 0:
	case t.Len() <= mostPositions:
		is = byPosition(t.Shape(), strides)
	default:
		is = byStride(t.Shape(), strides)
	}
	like.RowMajor, like.ColumnMajor = number(is.rowMajor), number(is.columnMajor)
	like.Inner, like.AnyOrder = number(is.inner), number(is.anyOrder)
	return like
}

// byPosition compares the positions of all elements; there is at least one.
func byPosition(shape, strides []int64) (is layouts) {
	rows := positions(shape, strides)
	is.rowMajor = areConsecutive(rows, 0)
	is.columnMajor = areConsecutive(positions(reversed(shape), reversed(strides)), 0)
	is.inner = true
	if len(shape) > 0 {
		for row := range slices.Chunk(rows, int(shape[len(shape)-1])) {
			is.inner = is.inner && areConsecutive(row, row[0])
		}
	}
	slices.Sort(rows)
	is.anyOrder = areConsecutive(rows, rows[0])
	return is
}

// positions returns the positions of all elements in row-major order, relative to the first.
func positions(shape, strides []int64) []int64 {
	all := []int64{0}
	for i, extent := range shape {
		var next []int64
		for _, position := range all {
			for k := range extent {
				next = append(next, position+k*strides[i])
			}
		}
		all = next
	}
	return all
}

func areConsecutive(positions []int64, first int64) bool {
	for i, position := range positions {
		if position != first+int64(i) {
			return false
		}
	}
	return true
}

func reversed(numbers []int64) []int64 {
	numbers = slices.Clone(numbers)
	slices.Reverse(numbers)
	return numbers
}

// step is the stride and the extent of a dimension.
type step struct{ stride, extent int64 }

// byStride compares the strides of dimensions with several elements. There are no empty ones.
func byStride(shape, strides []int64) (is layouts) {
	var steps []step
	for i, extent := range shape {
		if extent > 1 {
			steps = append(steps, step{strides[i], extent})
		}
	}
	is.columnMajor = areNested(steps)
	slices.Reverse(steps)
	is.rowMajor = areNested(steps)
	last := len(shape) - 1
	is.inner = last < 0 || shape[last] == 1 || strides[last] == 1
	for i := range steps {
		steps[i].stride = max(steps[i].stride, -steps[i].stride)
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.stride, b.stride) })
	is.anyOrder = areNested(steps)
	return is
}

// areNested reports whether each stride is the number of elements of the previous dimensions.
func areNested(steps []step) bool {
	covered := int64(1)
	for _, s := range steps {
		if s.stride != covered {
			return false
		}
		covered *= s.extent
	}
	return true
}

func TestDefinitionsOfLayoutsAgree(t *testing.T) {
	strides := []int64{-6, -3, -2, -1, 0, 1, 2, 3, 4, 6}
	n := len(strides)
	seen := map[layouts]bool{}
	for _, shape := range [][]int64{{2, 3, 1}, {3, 2, 2}, {1, 1, 2}, {2, 2, 2}, {3, 1, 1}, {1, 1, 1}} {
		for i := range n * n * n {
			own := []int64{strides[i%n], strides[i/n%n], strides[i/n/n]}
			is := byPosition(shape, own)
			require.Equal(t, is, byStride(shape, own), "shape %v, strides %v", shape, own)
			seen[is] = true
		}
	}
	assert.Equal(t, byPosition(nil, nil), byStride(nil, nil))
	for _, is := range []layouts{
		{}, {rowMajor: true, inner: true, anyOrder: true}, {columnMajor: true, anyOrder: true}, {inner: true},
		{anyOrder: true},
	} {
		assert.True(t, seen[is], "%+v", is)
	}
}
