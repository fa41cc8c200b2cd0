package gobind

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// elementRow is a row of the table: a number of elements of one type.
type elementRow struct {
	dtype dlpack.DataType
	flags dlpack.Flags
	count int64
}

// widthsOf returns the possible widths of a type code, around those of C types.
func widthsOf(code dlpack.DataTypeCode) []uint8 {
	switch {
	case code == 6 || code >= 7 && code <= 14:
		return []uint8{8}
	case code == 15 || code == 16:
		return []uint8{6}
	case code == 17:
		return []uint8{4}
	}
	return []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 80, 96, 127, 128,
		129, 200, 255}
}

// elements are all rows: each type code, including the one of DLPack's main branch.
func elements() (all []elementRow) {
	for code := range dlpack.DataTypeCode(19) {
		for _, bits := range widthsOf(code) {
			for _, lanes := range []uint16{1, 2, 3, 4, 5, 8, 65535} {
				for _, flags := range []dlpack.Flags{0, dlpack.FlagIsSubbyteTypePadded} {
					for _, count := range []int64{0, 1, 5, 8, 1000} {
						all = append(all,
							elementRow{dlpack.DataType{Code: code, Bits: bits, Lanes: lanes}, flags, count})
					}
				}
			}
		}
	}
	return all
}

func (e elementRow) String() string {
	return fmt.Sprint(uint8(e.dtype.Code), e.dtype.Bits, e.dtype.Lanes, uint64(e.flags), e.count)
}

// size returns Go's result for the row.
func (e elementRow) size(t *testing.T, f Foreign) int {
	t.Helper()
	f.Reshape([]int64{e.count}, []int64{1})
	f.Versioned().DLTensor.DType, f.Versioned().DLTensor.NDim = e.dtype, 1
	f.Versioned().Flags = e.flags
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err, e)
	defer m.Release()
	return m.Tensor().NBytes()
}

// The same program for C and C++: reads rows, prints sizes and alignments.
const elementsOfC = `
#ifdef __cplusplus
#include <dlpackgen/builder.hpp>
#include <dlpackgen/complex.hpp>
#include <dlpackgen/dtype.hpp>
#include <complex>
template <class T> constexpr bool aligned = dlpackgen::alignment(dlpackgen::dtype_of<T>) == alignof(T);
static_assert(aligned<std::uint8_t> && aligned<std::int16_t> && aligned<float> && aligned<double> && aligned<bool>, "");
static_assert(aligned<std::complex<float>> && aligned<std::complex<double>>, "");
static_assert(dlpackgen::alignment(DLDataType{kDLFloat, 128, 1}) == alignof(long double), "");
#else
#include <dlpackgen/tensor.h>
#endif
#include <stdio.h>
int main(void) {
	unsigned code, bits, lanes, flags;
	long long count;
	while (scanf("%u %u %u %u %lld", &code, &bits, &lanes, &flags, &count) == 5) {
		int64_t shape[1] = {count}, bytes = -1;
		DLTensor t = {NULL, {kDLCPU, 0}, 1, {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes}, shape, NULL, 0};
#ifdef __cplusplus
		bytes = *dlpackgen::nbytes(t, flags);
		const int align = static_cast<int>(dlpackgen::alignment(t.dtype));
#else
		const int align = dlpackgen_nbytes(&t, flags, &bytes) ? -1 : dlpackgen_alignment(t.dtype);
#endif
		printf("%u %u %u %u %lld: %lld bytes, aligned to %d\n", code, bits, lanes, flags, count, (long long)bytes, align);
	}
	return 0;
}
`

// answers compiles the program, and returns a line for each row.
func answers(t *testing.T, rows []elementRow, compiler ...string) []string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "elements")
	build := exec.Command(compiler[0],
		append(compiler[1:], "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(golden.Root(t), "gen", "c"),
			"-I", filepath.Join(golden.Root(t), "gen", "cpp"), "-o", program, "-")...)
	build.Stdin = strings.NewReader(elementsOfC)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var requested strings.Builder
	for _, e := range rows {
		fmt.Fprintln(&requested, e)
	}
	run := exec.Command(program)
	run.Stdin = strings.NewReader(requested.String())
	out, err = run.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// sizeOf and alignmentOf are a second implementation of the rules.
func sizeOf(e elementRow) int64 {
	bits, bytes := int64(e.dtype.Bits)*int64(e.dtype.Lanes), int64(0)
	if e.dtype.Bits < 8 && e.flags == 0 {
		for bytes*8 < bits*e.count {
			bytes += max(1, (bits*e.count-bytes*8)/8)
		}
		return bytes
	}
	for bytes*8 < bits {
		bytes++
	}
	return bytes * e.count
}

func alignmentOf(t dlpack.DataType) int {
	parts := map[dlpack.DataTypeCode]float64{5: 2, 18: 2}[t.Code]
	bytes := float64(t.Bits) / 8 / max(parts, 1)
	if slices.Contains([]float64{2, 4, 8, 16}, bytes) {
		return int(bytes)
	}
	return 1
}

// Every language computes the same size and alignment for every element.
func TestLanguagesAgreeOnElements(t *testing.T) {
	rows, f := elements(), NewForeign()
	defer f.Free()
	c := answers(t, rows, testtool.Require(t, "gcc", "gcc"), "-std=c99", "-x", "c")
	cpp := answers(t, rows, testtool.Require(t, "g++", "g++"), "-std=c++17", "-x", "c++")
	require.Greater(t, len(rows), 9000)
	for i, e := range rows {
		want := fmt.Sprintf("%v: %d bytes, aligned to %d", e, sizeOf(e), alignmentOf(e.dtype))
		require.Equal(t, want, c[i], "C")
		require.Equal(t, want, cpp[i], "C++")
		require.Equal(t, want, fmt.Sprintf("%v: %d bytes, aligned to %d", e, e.size(t, f), e.dtype.Alignment()), "Go")
	}
}

func aligns[T dlpack.Element](t *testing.T) {
	t.Helper()
	assert.EqualValues(t, unsafe.Alignof(*new(T)), dlpack.DataTypeOf[T]().Alignment(), "%T", *new(T))
}

// Go's types, and those of NumPy and ml_dtypes, are aligned like their elements.
func TestTypesAreAlignedAsElements(t *testing.T) {
	aligns[bool](t)
	aligns[int8](t)
	aligns[uint16](t)
	aligns[float32](t)
	aligns[float64](t)
	aligns[complex64](t)
	aligns[complex128](t)
	aligns[dlpack.Float16](t)
	aligns[dlpack.BFloat16](t)
	aligns[dlpack.Complex32](t)
	out, err := exec.Command(requireNumPy(t), "-c", `
import json, numpy, ml_dtypes
codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
table = [(codes[d.kind], d.itemsize * 8, d.alignment) for d in map(numpy.dtype, "?bBhHiIqQefdgFD")]
table += [(4, 16, numpy.dtype(ml_dtypes.bfloat16).alignment), (10, 8, numpy.dtype(ml_dtypes.float8_e4m3fn).alignment)]
print(json.dumps(table))`).Output()
	require.NoError(t, err)
	var table [][3]int
	require.NoError(t, json.Unmarshal(out, &table))
	for _, row := range table {
		dtype := dlpack.DataType{Code: dlpack.DataTypeCode(row[0]), Bits: uint8(row[1]), Lanes: 1}
		assert.Equal(t, row[2], dtype.Alignment(), "%v", dtype)
	}
}
