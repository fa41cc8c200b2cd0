//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"testing"

	dlpack "dlpackgen.invalid/dlpack"
)

// testFlags expects the consumer to receive the producer's flags, and to obey them.
func testFlags(t *testing.T) {
	t.Run("ReadOnly", testReadOnly)
	t.Run("Unknown", func(t *testing.T) {
		s := newForeign(t)
		s.versioned().Flags = 1<<63 | dlpack.FlagIsCopied
		d := imported(t, s.versioned())
		equal(t, "flags", d.Flags(), 1<<63|dlpack.FlagIsCopied)
		equal(t, "read-only", d.IsReadOnly(), false)
	})
	t.Run("Padded", testPadded)
}

func testReadOnly(t *testing.T) {
	noLeak(t)
	data := []int32{1, 2, 3, 4}
	o := dlpack.ExportOptions{Flags: dlpack.FlagReadOnly}
	p := must[exported](t)(dlpack.ExportWith(data, o))
	equal(t, "flags in C", see(p).Flags, uint64(dlpack.FlagReadOnly))
	d := imported(t, p)
	equal(t, "read-only", d.IsReadOnly(), true)
	_, err := dlpack.WritableData[int32](d)
	rejected(t, "WritableData", err, dlpack.ErrReadOnly)
	_, err = dlpack.WritableRuns[int32](d)
	rejected(t, "WritableRuns", err, dlpack.ErrReadOnly)
	rejected(t, "SetAt", dlpack.SetAt(d, int32(9), 0), dlpack.ErrReadOnly)
	equalSlices(t, "elements", must[[]int32](t)(dlpack.Data[int32](d)), []int32{1, 2, 3, 4})

	_, err = dlpack.ExportLegacy(data, o)
	rejected(t, "ExportLegacy without a read-only flag", err, dlpack.ErrReadOnly)
}

// testPadded compares the size of narrow elements, packed and padded.
func testPadded(t *testing.T) {
	for _, padded := range []bool{false, true} {
		s := newForeign(t)
		s.reshape([]int64{5}, []int64{1})
		s.versioned().DLTensor.DType = dlpack.DataType{Code: dlpack.CodeInt, Bits: 4, Lanes: 1}
		want := 3
		if padded {
			s.versioned().Flags, want = dlpack.FlagIsSubbyteTypePadded, 5
		}
		d := imported(t, s.versioned())
		equal(t, "padded", d.IsPadded(), padded)
		equal(t, "bytes of 5 elements of 4 bits", d.NBytes(), want)
	}
}
