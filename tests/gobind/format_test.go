package gobind

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// counted returns a tensor over 0, 1, 2 and so on.
func counted[T int32 | float64](t *testing.T, count int, o dlpack.ExportOptions) dlpack.Tensor {
	t.Helper()
	data := make([]T, count)
	for i := range data {
		data[i] = T(i)
	}
	p, err := dlpack.ExportWith(data, o)
	return imported(t, p, err)
}

func lines(text ...string) string { return strings.Join(text, "\n") }

func TestATensorShowsItsElements(t *testing.T) {
	shaped := func(shape ...int64) dlpack.ExportOptions { return dlpack.ExportOptions{Shape: shape} }
	for name, test := range map[string]struct {
		tensor dlpack.Tensor
		want   string
	}{
		"a scalar":      {counted[int32](t, 1, shaped([]int64{}...)), "int32[] on CPU:0 0"},
		"one dimension": {counted[int32](t, 3, shaped(3)), "int32[3] on CPU:0 [0 1 2]"},
		"two": {counted[int32](t, 12, shaped(2, 6)),
			lines("int32[2 6] on CPU:0", "[[ 0  1  2  3  4  5]", " [ 6  7  8  9 10 11]]")},
		"three": {counted[float64](t, 8, shaped(2, 2, 2)), lines("float64[2 2 2] on CPU:0",
			"[[[0 1]", "  [2 3]]", "", " [[4 5]", "  [6 7]]]")},
		"no element": {counted[int32](t, 0, shaped(2, 0, 3)), "int32[2 0 3] on CPU:0 []"},
		"transposed": {counted[int32](t, 6, dlpack.ExportOptions{Shape: []int64{3, 2}, Strides: []int64{1, 3}}),
			lines("int32[3 2] on CPU:0", "[[0 3]", " [1 4]", " [2 5]]")},
		"backwards": {counted[int32](t, 3, dlpack.ExportOptions{Shape: []int64{3}, Strides: []int64{-1}, Offset: 2}),
			"int32[3] on CPU:0 [2 1 0]"},
		"broadcast": {counted[int32](t, 2, dlpack.ExportOptions{Shape: []int64{2, 2}, Strides: []int64{0, 1}}),
			lines("int32[2 2] on CPU:0", "[[0 1]", " [0 1]]")},
		"a summary": {counted[int32](t, 1001, shaped(1001)),
			"int32[1001] on CPU:0 [   0    1    2 ...  998  999 1000]"},
		"in both dimensions": {counted[int32](t, 1200, shaped(100, 12)), lines("int32[100 12] on CPU:0",
			"[[   0    1    2 ...    9   10   11]", " [  12   13   14 ...   21   22   23]",
			" [  24   25   26 ...   33   34   35]", " ...",
			" [1164 1165 1166 ... 1173 1174 1175]", " [1176 1177 1178 ... 1185 1186 1187]",
			" [1188 1189 1190 ... 1197 1198 1199]]")},
		"nothing there": {dlpack.Tensor{}, "released tensor"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.tensor.String())
			assert.Equal(t, test.want, fmt.Sprintf("%v", test.tensor))
			assert.Equal(t, test.want, fmt.Sprintf("%s", test.tensor))
		})
	}
}

func TestEveryTypeHasItsText(t *testing.T) {
	for want, test := range map[string]struct {
		dtype  dlpack.DataType
		memory []byte
	}{
		"bool[2] on CPU:0 [ true false]":        {dlpack.DTypeBool, []byte{7, 0}},
		"int4[2] on CPU:0 [-1  7]":              {dlpack.DTypeInt4, []byte{0x7f}},
		"uint4[2] on CPU:0 [15  7]":             {dlpack.DTypeUint4, []byte{0x7f}},
		"int8[2] on CPU:0 [ -1 127]":            {dlpack.DTypeInt8, []byte{0xff, 0x7f}},
		"float8_e4m3fn[2] on CPU:0 [448 NaN]":   {dlpack.DTypeFloat8E4M3FN, []byte{0x7e, 0x7f}},
		"float6_e2m3fn[2] on CPU:0 [ 7.5 -7.5]": {dlpack.DTypeFloat6E2M3FN, []byte{0xdf, 0x0f}},
		"float4_e2m1fn[2] on CPU:0 [ 6 -6]":     {dlpack.DTypeFloat4E2M1FN, []byte{0xf7}},
		"int8x2[2] on CPU:0\n[[1 2]\n [3 4]]": {dlpack.DataType{Code: dlpack.CodeInt, Bits: 8,
			Lanes: 2}, []byte{1, 2, 3, 4}},
		"float4_e2m1fnx2[2] on CPU:0\n[[0.5   1]\n [1.5   2]]": {dlpack.DataType{Code: dlpack.CodeFloat4E2M1FN,
			Bits: 4, Lanes: 2}, []byte{0x21, 0x43}},
		"Int/7[2] on CPU:0, of a type without a name": {dlpack.DataType{Code: dlpack.CodeInt, Bits: 7,
			Lanes: 1}, nil},
		"OpaqueHandle/64[2] on CPU:0, of a type without a name": {dlpack.DataType{Code: dlpack.CodeOpaqueHandle,
			Bits: 64, Lanes: 1}, nil},
		"DataTypeCode(99)/8[2] on CPU:0, of a type without a name": {dlpack.DataType{Code: 99, Bits: 8, Lanes: 1}, nil},
	} {
		tensor := spoiled(t, func(f Foreign) {
			copy(bytesOf(f), test.memory)
			f.Reshape([]int64{2}, []int64{1})
			f.Versioned().DLTensor.DType = test.dtype
		})
		assert.Equal(t, want, tensor.String())
	}
	p, err := dlpack.Export([]complex64{1, complex(0.5, -2)})
	assert.Equal(t, "complex64[2] on CPU:0 [  (1+0i) (0.5-2i)]", imported(t, p, err).String())
	p, err = dlpack.Export([]dlpack.Float16{dlpack.Float16From(0.1), 0x7c00})
	assert.Equal(t, "float16[2] on CPU:0 [ 0.1 +Inf]", imported(t, p, err).String())
	p, err = dlpack.Export([]dlpack.Complex32{{Real: 0x3c00}})
	assert.Equal(t, "complex32[1] on CPU:0 [(1+0i)]", imported(t, p, err).String())
	padded := spoiled(t, func(f Foreign) {
		copy(bytesOf(f), []byte{0xf1, 0x0f})
		f.Reshape([]int64{2}, []int64{1})
		f.Versioned().DLTensor.DType, f.Versioned().Flags = dlpack.DTypeInt4, dlpack.FlagIsSubbyteTypePadded
	})
	assert.Equal(t, "int4[2] on CPU:0 [ 1 -1]", padded.String())
}

func TestVerbsGoToTheElements(t *testing.T) {
	p, err := dlpack.ExportWith([]float32{1. / 3, -20}, dlpack.ExportOptions{Flags: dlpack.FlagReadOnly})
	tensor := imported(t, p, err)
	for verb, want := range map[string]string{
		"%v":     "[0.33333334        -20]",
		"%.2v":   "[0.33  -20]",
		"%.2f":   "[  0.33 -20.00]",
		"%+.1e":  "[+3.3e-01 -2.0e+01]",
		"%30.0f": "[  0 -20]",
		"%d":     "[%!d(float32=0.33333334)        %!d(float32=-20)]",
	} {
		assert.Equal(t, "float32[2] on CPU:0 "+want, fmt.Sprintf(verb, tensor), verb)
	}
	address := fmt.Sprintf("%#x", tensor.Addr())
	assert.Equal(t, "float32[2] on CPU:0, strides [1], flags ReadOnly, at "+address+" [0.33333334        -20]",
		fmt.Sprintf("%+v", tensor))
	want := "Tensor{DataType: float32, Shape: [2], Strides: [1], Device: CPU:0, Flags: ReadOnly, Addr: " + address + "}"
	assert.Equal(t, want, fmt.Sprintf("%#v", tensor))
	assert.Equal(t, want, tensor.GoString())
	assert.Equal(t, "Tensor{}", fmt.Sprintf("%#v", dlpack.Tensor{}))
	assert.Equal(t, "int32[3] on CPU:0 [0x0 0x1 0x2]",
		fmt.Sprintf("%#04x", counted[int32](t, 3, dlpack.ExportOptions{})))
}

// The pointer is invalid in every process.
func TestFormatDoesNotReadDeviceMemory(t *testing.T) {
	for device, name := range map[dlpack.DeviceType]string{dlpack.DeviceCUDA: "CUDA:0",
		dlpack.DeviceMetal: "Metal:0", 4711: "DeviceType(4711):0"} {
		tensor := spoiled(t, func(f Foreign) {
			f.Versioned().DLTensor.Device.Type = device
			f.Versioned().DLTensor.Data = 4096
		})
		assert.Equal(t, "float32[2 3] on "+name+", which the host cannot read", tensor.String())
		assert.Contains(t, fmt.Sprintf("%+v", tensor),
			", strides [3 1], flags 0, at 0x1000, which the host cannot read")
	}
}

// Shapes with far too many elements to read.
func TestLittleIsReadOfMuch(t *testing.T) {
	many := func(extent int64) (shape, strides []int64) {
		for range 60 {
			shape, strides = append(shape, extent), append(strides, 0)
		}
		return shape, strides
	}
	for name, spoil := range map[string]func(Foreign){
		"one endless dimension":   func(f Foreign) { f.Reshape([]int64{math.MaxInt64}, []int64{0}) },
		"endless, of nothing":     func(f Foreign) { f.Reshape([]int64{math.MaxInt64, 0}, []int64{0, 0}) },
		"sixty dimensions of two": func(f Foreign) { f.Reshape(many(2)) },
		"lanes without end": func(f Foreign) {
			f.Reshape([]int64{1 << 40}, []int64{0})
			f.Versioned().DLTensor.DType = dlpack.DataType{Code: dlpack.CodeInt, Bits: 8, Lanes: 512}
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := spoiled(t, spoil).String()
			assert.Less(t, len(text), 1<<18)
			if name != "endless, of nothing" {
				assert.Contains(t, text, "...")
			}
		})
	}
}

func TestLanesCountForTheSummary(t *testing.T) {
	lanes := func(count int64) dlpack.Tensor {
		return spoiled(t, func(f Foreign) {
			f.Reshape([]int64{count}, []int64{0})
			f.Versioned().DLTensor.DType = dlpack.DataType{Code: dlpack.CodeInt, Bits: 8, Lanes: 2}
		})
	}
	assert.NotContains(t, lanes(500).String(), "...")
	assert.Contains(t, lanes(501).String(), "\n ...\n")
}

// numbers returns the numbers in a preview.
func numbers(t *testing.T, tensor dlpack.Tensor) (found []int32) {
	t.Helper()
	_, text, _ := strings.Cut(tensor.String(), " on CPU:0")
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[] \n", r) }) {
		n, err := strconv.Atoi(word)
		require.NoError(t, err, text)
		found = append(found, int32(n))
	}
	return found
}

func TestSmallTensorsAreShownWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		if g := gridOf(randomCode(random)); len(g.places()) <= 1000 {
			require.Equal(t, g.places(), numbers(t, g.tensor(t)), "%+v", g)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte("\x03\x01"), "%v")
	f.Add([]byte("\x03\x01\x02\x03"), "%+.3q")
	f.Fuzz(func(t *testing.T, code []byte, verb string) {
		_ = fmt.Sprintf(verb, gridOf(code).tensor(t))
	})
}

// The layout is NumPy's, including line breaks and blank lines.
func TestNumPyShowsArraysTheSameWay(t *testing.T) {
	python := requireNumPy(t)
	type array struct {
		Base  int64
		Shape []int64
	}
	var arrays []array
	for _, shape := range [][]int64{
		{1}, {20}, {21}, {100}, {1000}, {1001}, {7, 150}, {2, 500}, {2, 501}, {3, 25}, {2, 2, 40}, {2, 3, 4},
		{20, 5, 20}, {2, 2, 2, 3}, {1, 1, 1, 30}, {8, 8, 8, 2},
	} {
		for _, base := range []int64{0, -5, 1e17, 1e18} { // up to three on a line, and "..." may be the fourth
			arrays = append(arrays, array{base, shape})
		}
	}
	input, err := json.Marshal(arrays)
	require.NoError(t, err)
	out, err := exec.Command(python, "-c", `
import json, math, sys
import numpy as np
print(json.dumps([str(np.arange(math.prod(a["Shape"])).reshape(a["Shape"]) + a["Base"]) for a in json.loads(sys.argv[1])]))
`, string(input)).Output()
	require.NoError(t, err)
	var want []string
	require.NoError(t, json.Unmarshal(out, &want))
	for i, a := range arrays {
		count := int64(1)
		for _, extent := range a.Shape {
			count *= extent
		}
		var data []int64
		for k := range count {
			data = append(data, a.Base+k)
		}
		p, err := dlpack.Export(data, a.Shape...)
		_, got, _ := strings.Cut(imported(t, p, err).String(), " on CPU:0")
		assert.Equal(t, want[i], got[1:], "%v", a)
	}
}
