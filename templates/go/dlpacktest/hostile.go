//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	dlpack "dlpackgen.invalid/dlpack"
)

// faults are tensors that consumers must reject, by their mistakes.
var mistakes = map[string]struct {
	spoil func(*dlpack.DLTensor)
	want  error
}{
	"NegativeNDim":      {func(d *dlpack.DLTensor) { d.NDim = -1 }, dlpack.ErrShape},
	"SmallestNDim":      {func(d *dlpack.DLTensor) { d.NDim = math.MinInt32 }, dlpack.ErrShape},
	"HugeNDim":          {func(d *dlpack.DLTensor) { d.NDim = math.MaxInt32 }, dlpack.ErrShape},
	"NDimOverTheLimit":  {func(d *dlpack.DLTensor) { d.NDim = dlpack.MaxNDim + 1 }, dlpack.ErrShape},
	"NoShape":           {func(d *dlpack.DLTensor) { d.Shape = 0 }, dlpack.ErrShape},
	"MisalignedShape":   {func(d *dlpack.DLTensor) { d.Shape++ }, dlpack.ErrShape},
	"MisalignedStrides": {func(d *dlpack.DLTensor) { d.Strides += 4 }, dlpack.ErrShape},
	"NoData":            {func(d *dlpack.DLTensor) { d.Data = 0 }, dlpack.ErrData},
	"OffsetWraps":       {func(d *dlpack.DLTensor) { d.ByteOffset = math.MaxUint64 }, dlpack.ErrShape},
	"EndWraps":          {func(d *dlpack.DLTensor) { d.Data = math.MaxUint64 - 8 }, dlpack.ErrShape},
	"NoLanes":           {func(d *dlpack.DLTensor) { d.DType.Lanes = 0 }, dlpack.ErrDataType},
	"NoBits":            {func(d *dlpack.DLTensor) { d.DType.Bits = 0 }, dlpack.ErrDataType},
	"BoolOf32Bits":      {func(d *dlpack.DLTensor) { d.DType.Code = dlpack.CodeBool }, dlpack.ErrDataType},
}

// hostileDims are shapes and strides beyond any memory.
var hostileDims = map[string]struct{ shape, strides []int64 }{
	"NegativeExtent":          {[]int64{2, -3}, []int64{3, 1}},
	"NegativeExtentAfterZero": {[]int64{0, -3}, []int64{3, 1}},
	"CountOver63Bits":         {[]int64{1 << 32, 1 << 31}, []int64{0, 0}},
	"CountOver64Bits":         {[]int64{math.MaxInt64, math.MaxInt64}, []int64{0, 0}},
	"BytesOver63Bits":         {[]int64{math.MaxInt64}, []int64{1}},
	"ReachOver64Bits":         {[]int64{3, 1}, []int64{math.MaxInt64, 1}},
	"SumOver64Bits":           {[]int64{2, 2, 2}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}},
	"SmallestStride":          {[]int64{2, 3}, []int64{math.MinInt64, 1}},
	"BeforeAllMemory":         {[]int64{2, 3}, []int64{-1 << 60, 1}},
}

func testHostile(t *testing.T) {
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			s := newForeign(t)
			s.both(mistake.spoil)
			rejectedOnce(t, s, mistake.want)
		})
	}
	for name, dims := range hostileDims {
		t.Run(name, func(t *testing.T) {
			s := newForeign(t)
			s.reshape(dims.shape, dims.strides)
			rejectedOnce(t, s, dlpack.ErrShape)
		})
	}
	t.Run("UnknownNumbers", testUnknownNumbers)
	t.Run("Random", func(t *testing.T) {
		executions := 100_000
		if testing.Short() {
			executions = 10_000
		}
		Hostile(t, executions, 1)
	})
}

// rejectedOnce expects each struct to be rejected, and deleted once: the import owns the tensor
// also on failure.
func rejectedOnce(t *testing.T, s foreign, want error) {
	t.Helper()
	_, err := dlpack.Import(s.versioned())
	rejected(t, "Import", err, want)
	equal(t, "deleters called", s.deleted(), 1)
	_, err = dlpack.ImportLegacy(s.legacy())
	rejected(t, "ImportLegacy", err, want)
	equal(t, "deleters called", s.deleted(), 2)
}

// testUnknownNumbers expects devices and types of future releases to be imported, but not read.
func testUnknownNumbers(t *testing.T) {
	s := newForeign(t)
	s.versioned().DLTensor.Device = dlpack.Device{Type: 4242, ID: 7}
	d := imported(t, s.versioned())
	equal(t, "device", d.Device(), dlpack.Device{Type: 4242, ID: 7})
	_, err := dlpack.Data[float32](d)
	rejected(t, "Data on an unknown device", err, dlpack.ErrDevice)

	s = newForeign(t)
	s.versioned().DLTensor.DType.Code = 200
	d = imported(t, s.versioned())
	equal(t, "type code", d.DataType().Code, 200)
	_, err = dlpack.Data[float32](d)
	rejected(t, "Data of an unknown type", err, dlpack.ErrDataType)
}

// Hostile imports the given number of random tensors, most of them invalid, and uses the accepted
// ones. The same seed results in the same tensors. A million tensors take about a second.
func Hostile(t *testing.T, executions int, seed uint64) {
	s := newForeign(t)
	good := *s.versioned()
	r := chance{rand.NewPCG(seed, 0)}
	accepted := 0
	for i := range executions {
		*s.versioned() = good
		r.spoil(s)
		before := s.deleted()
		if m, err := dlpack.Import(s.versioned()); err == nil {
			accepted++
			use(t, s, m.Tensor())
			m.Release()
		}
		if s.deleted() != before+1 || t.Failed() {
			t.Fatalf("execution %d: %d deleters called for %+v of shape %v and strides %v", i, s.deleted()-before,
				*s.versioned(), s.shape()[:4], s.strides()[:4])
		}
	}
	if executions >= 1000 && (accepted < executions/50 || accepted > executions*49/50) {
		t.Errorf("of %d tensors %d were accepted", executions, accepted)
	}
}

// use calls the methods of an accepted tensor; its elements are read if they are in the foreign's
// memory.
func use(t *testing.T, s foreign, d dlpack.Tensor) {
	count := 1
	for _, extent := range d.Shape() {
		count *= int(extent)
	}
	if d.Len() != count || count < 0 || d.NBytes() < 0 {
		t.Errorf("%d elements in %d bytes for %d", d.Len(), d.NBytes(), count)
	}
	if packed, err := dlpack.PackedData[dlpack.Uint4](d); err == nil && packed.Len() < count {
		t.Errorf("%d packed elements of %d", packed.Len(), count)
	}
	if !inside(s, d) {
		return
	}
	sum := byte(0)
	if all, err := dlpack.Data[uint8](d); err == nil {
		for _, v := range all {
			sum += v
		}
	}
	if runs, err := dlpack.Runs[uint8](d); err == nil {
		for run := range runs {
			sum += run[len(run)-1]
		}
	}
	if sum != 0 {
		t.Errorf("%d read from memory of zeros", sum)
	}
}

// inside reports whether all bytes of a small byte tensor are in the foreign's memory.
func inside(s foreign, d dlpack.Tensor) bool {
	if d.DataType() != dlpack.DataTypeOf[uint8]() || d.Len() > 64 {
		return false
	}
	indices := make([]int64, d.NDim())
	for range d.Len() {
		at := int64(d.Addr() - s.addr())
		for i, index := range indices {
			at += index * d.Stride(i)
		}
		if at < 0 || at >= foreignBytes {
			return false
		}
		next(indices, d.Shape())
	}
	return true
}

// chance generates values that break validations.
type chance struct{ source *rand.PCG }

func one[T any](c chance, from ...T) T { return from[c.source.Uint64()%uint64(len(from))] }

// rarely is true a fifth of the time, so most fields remain valid.
func (c chance) rarely() bool { return c.source.Uint64()%5 == 0 }

// spoil changes random fields of a valid tensor.
func (c chance) spoil(s foreign) {
	d := &s.versioned().DLTensor
	d.NDim = one(c, int32(0), 1, 2, 3)
	for i := range 4 {
		s.shape()[i], s.strides()[i] = one(c, int64(1), 2, 3), one(c, int64(1), 2, 3, 6)
		if c.rarely() {
			s.shape()[i] = one(c, int64(0), 1<<20, 1<<31, 1<<62, math.MaxInt64, -1, math.MinInt64)
			s.strides()[i] = one(c, int64(0), -1, 1<<32, -1<<32, 1<<62, math.MaxInt64, math.MinInt64)
		}
	}
	d.DType = one(c, dlpack.DataTypeOf[uint8](), dlpack.DataTypeOf[float64](), dlpack.DataTypeOf[bool]())
	if !c.rarely() {
		return
	}
	switch c.source.Uint64() % 8 {
	case 0:
		d.NDim = one(c, int32(4), 8, 9, dlpack.MaxNDim, dlpack.MaxNDim+1, -1, math.MaxInt32, math.MinInt32)
	case 1:
		raw := c.source.Uint64()
		d.DType = dlpack.DataType{Code: dlpack.DataTypeCode(raw), Bits: uint8(raw >> 8), Lanes: uint16(raw >> 16)}
	case 2:
		d.Device = dlpack.Device{Type: dlpack.DeviceType(c.source.Uint64() % 32), ID: int32(c.source.Uint64())}
	case 3:
		d.ByteOffset = one(c, uint64(1), foreignBytes-1, 1<<62, 1<<63, math.MaxUint64)
	case 4:
		d.Data = one(c, uintptr(0), 1, math.MaxUint64-64, math.MaxUint64)
	case 5:
		d.Shape, d.Strides = one(c, d.Shape, d.Shape+1, 0), one(c, d.Strides, d.Strides+2, 0)
	case 6:
		s.versioned().Flags = dlpack.Flags(c.source.Uint64())
	default:
		s.versioned().Version = dlpack.Version{Major: one(c, uint32(1), 0, 2), Minor: one(c, uint32(0), 1, 2, 99)}
	}
}
