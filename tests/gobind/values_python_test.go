package gobind

import (
	"bytes"
	"encoding/binary"
	"math"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// converter reads float32 numbers and writes, for each, the code from NumPy and ml_dtypes, after
// the float32 of every code.
const converter = `
import sys
import numpy as np
import ml_dtypes
name, codes = sys.argv[1], int(sys.argv[2])
dtype = np.dtype(np.float16) if name == "float16" else np.dtype(getattr(ml_dtypes, name))
code = np.uint16 if dtype.itemsize == 2 else np.uint8
out = sys.stdout.buffer
with np.errstate(all="ignore"):
    out.write(np.arange(codes).astype(code).view(dtype).astype(np.float32).tobytes())
    numbers = np.frombuffer(sys.stdin.buffer.read(), np.float32)
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
	for _, d := range definitions() {
		t.Run(d.name, func(t *testing.T) {
			if testing.Short() && d.name != "bfloat16" {
				t.Skip("starts a Python for each type, and -short was given")
			}
			numbers := d.inputs(d.magnitudes())
			var in bytes.Buffer
			require.NoError(t, binary.Write(&in, binary.NativeEndian, numbers))
			cmd := exec.Command(python, "-c", converter, d.name, strconv.Itoa(int(d.codes())))
			cmd.Stdin = &in
			out, err := cmd.Output()
			require.NoError(t, err)
			decoded, encoded := make([]float32, d.codes()), make([]uint16, len(numbers))
			size, err := binary.Decode(out, binary.NativeEndian, decoded)
			require.NoError(t, err)
			_, err = binary.Decode(out[size:], binary.NativeEndian, encoded)
			require.NoError(t, err)
			d.agree(t, decoded, numbers, encoded)
		})
	}
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
