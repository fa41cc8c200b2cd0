package gobind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// converter reads float32 numbers and writes, for each, the code from NumPy and ml_dtypes, after
// the float32 of every code. Each argument is a type, its number of codes and that of the float32
// numbers.
const converter = `
import sys
import numpy as np
import ml_dtypes
for argument in sys.argv[1:]:
    name, codes, count = argument.split(":")
    dtype = np.dtype(np.float16) if name == "float16" else np.dtype(getattr(ml_dtypes, name))
    code = np.uint16 if dtype.itemsize == 2 else np.uint8
    out = sys.stdout.buffer
    with np.errstate(all="ignore"):
        out.write(np.arange(int(codes)).astype(code).view(dtype).astype(np.float32).tobytes())
        numbers = np.frombuffer(sys.stdin.buffer.read(4 * int(count)), np.float32)
        out.write(numbers.astype(dtype).view(code).astype(np.uint16).tobytes())
`

// requireMLDtypes returns a Python with NumPy's additional types, or skips the test.
func requireMLDtypes(t *testing.T) string {
	t.Helper()
	python := requireNumPy(t)
	if !testtool.Has(python, "ml_dtypes") {
		t.Skipf("needs ml_dtypes in %s: make setup", python)
	}
	return python
}

func TestPythonConvertsEveryFloatTheSameWay(t *testing.T) {
	python := requireMLDtypes(t)
	var in bytes.Buffer
	argv, inputs := []string{"-c", converter}, map[string][]float32{}
	for _, d := range definitions() {
		numbers := d.inputs(d.magnitudes())
		inputs[d.name] = numbers
		require.NoError(t, binary.Write(&in, binary.NativeEndian, numbers))
		argv = append(argv, fmt.Sprintf("%s:%d:%d", d.name, d.codes(), len(numbers)))
	}
	cmd := exec.Command(python, argv...)
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	for _, d := range definitions() {
		numbers := inputs[d.name]
		decoded, encoded := make([]float32, d.codes()), make([]uint16, len(numbers))
		size, err := binary.Decode(out, binary.NativeEndian, decoded)
		require.NoError(t, err)
		out = out[size:]
		size, err = binary.Decode(out, binary.NativeEndian, encoded)
		require.NoError(t, err)
		out = out[size:]
		t.Run(d.name, func(t *testing.T) { d.agree(t, decoded, numbers, encoded) })
	}
	require.Empty(t, out)
}

// agree compares all bits, except those of a NaN, of which NumPy keeps more.
func (d definition) agree(t *testing.T, decoded, numbers []float32, encoded []uint16) {
	t.Helper()
	for code, want := range decoded {
		if got := d.decode(uint32(code)); math.Float32bits(got) != math.Float32bits(want) && got == got {
			t.Fatalf("code %#x is %v, in Python %v", code, got, want)
		}
	}
	for i, want := range encoded {
		if !d.signed && numbers[i] < 0x1p-126 {
			continue // ml_dtypes 0.6.0 rounds these up from 2^-127, however small the difference
		}
		if got := d.encode(numbers[i]); got != uint32(want) && !(d.nan(got) && d.nan(uint32(want))) {
			t.Fatalf("%v (%#x) becomes %#x, in Python %#x", numbers[i], math.Float32bits(numbers[i]), got, want)
		}
	}
}
