//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"testing"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// testLayouts writes every field in each language, and reads it in the other.
func testLayouts(t *testing.T) {
	t.Run("Versioned", func(t *testing.T) {
		s := newForeign(t)
		*s.versioned() = dlpack.DLManagedTensorVersioned{
			Version:    dlpack.Version{Major: 11, Minor: 12},
			ManagerCtx: 13,
			Deleter:    14,
			Flags:      1<<63 | 15,
			DLTensor:   numbered(),
		}
		want := numberedSight()
		want.Major, want.Minor, want.ManagerCtx, want.Deleter, want.Flags = 11, 12, 13, 14, 1<<63|15
		equal(t, "what C reads", see(s.versioned()), want)
	})
	t.Run("Legacy", func(t *testing.T) {
		s := newForeign(t)
		*s.legacy() = dlpack.DLManagedTensor{DLTensor: numbered(), ManagerCtx: 13, Deleter: 14}
		want := numberedSight()
		want.ManagerCtx, want.Deleter = 13, 14
		equal(t, "what C reads", seeLegacy(s.legacy()), want)
	})
	t.Run("FromC", testFromC)
	t.Run("Export", testExportFields)
}

// numbered has a different number in each field.
func numbered() dlpack.DLTensor {
	return dlpack.DLTensor{
		Data:       0x0102030405060708,
		Device:     dlpack.Device{Type: 0x11121314, ID: -0x21222324},
		NDim:       0x31323334,
		DType:      dlpack.DataType{Code: 0x41, Bits: 0x51, Lanes: 0x6162},
		Shape:      0x7172737475767778,
		Strides:    0x0182838485868788,
		ByteOffset: 0x9192939495969798,
	}
}

func numberedSight() sight {
	return sight{
		Data: 0x0102030405060708, DeviceType: 0x11121314, DeviceID: -0x21222324, NDim: 0x31323334,
		Code: 0x41, Bits: 0x51, Lanes: 0x6162,
		Shape: 0x7172737475767778, Strides: 0x0182838485868788, ByteOffset: 0x9192939495969798,
	}
}

// testFromC reads each field that C wrote.
func testFromC(t *testing.T) {
	s := newForeign(t)
	d := imported(t, s.versioned())
	equal(t, "version", s.versioned().Version, dlpack.Version{Major: dlpack.MajorVersion, Minor: dlpack.MinorVersion})
	equal(t, "address", d.Addr(), s.addr())
	equal(t, "device", d.Device(), dlpack.Device{Type: dlpack.DeviceCPU})
	equal(t, "data type", d.DataType(), dlpack.DataTypeOf[float32]())
	equal(t, "dimensions", d.NDim(), 2)
	equalSlices(t, "shape", d.Shape(), []int64{2, 3})
	equalSlices(t, "strides", d.Strides(), []int64{3, 1})
	equal(t, "flags", d.Flags(), 0)
	equal(t, "elements", d.Len(), 6)
}

// testExportFields reads each field of an export in C.
func testExportFields(t *testing.T) {
	noLeak(t)
	data := []int16{1, 2, 3, 4, 5, 6}
	p := must[exported](t)(dlpack.ExportWith(data,
		dlpack.ExportOptions{Shape: []int64{3, 2}, Flags: dlpack.FlagIsCopied}))
	got := see(p)
	dims := imported(t, p)
	want := sight{
		Major: dlpack.MajorVersion, Minor: dlpack.MinorVersion, Flags: uint64(dlpack.FlagIsCopied),
		DeviceType: int64(dlpack.DeviceCPU), NDim: 2, Code: int64(dlpack.CodeInt), Bits: 16, Lanes: 1,
		Data: uint64(uintptr(unsafe.Pointer(&data[0]))), Shape: address(dims.Shape()), Strides: address(dims.Strides()),
	}
	equal(t, "a deleter", got.Deleter != 0, true)
	want.Deleter, want.ManagerCtx = got.Deleter, got.ManagerCtx
	equal(t, "what C reads", got, want)
	equalSlices(t, "shape", dims.Shape(), []int64{3, 2})
	equalSlices(t, "strides", dims.Strides(), []int64{2, 1})
}

func address(dims []int64) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(dims)))) }
