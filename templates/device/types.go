//go:build ignore

package device

import "unsafe"

// Error is the error of a failed call. Code is a dlpackgen_backend_code of dlpackgen_backend.h, or
// a code of the package's own header. DriverCode is the driver's number, or 0 if the driver was not
// called.
type Error struct {
	Code, DriverCode int
	Message          string
}

// Error returns the text, which begins with the name of the backend.
func (e *Error) Error() string { return e.Message }

// DriverInfo is what the driver reports about itself.
type DriverInfo struct {
	Version int64 // in the driver's own numbering
	Devices int
}

// Device is a DLDevice.
type Device struct{ Type, ID int32 }

// DataType is a DLDataType.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Pointer is the driver's information about an address.
type Pointer struct {
	Device  Device  // kDLCPU for unknown addresses
	Ordinal int     // the device of the memory; -1 for none
	Base    uintptr // of the allocation
	Size    uintptr // in bytes
}

// Pointers into C memory, each to one struct of DLPack. Any Go pointer to such a struct can be
// converted to them and back. They are distinct types.
type (
	// TensorPointer points to a DLTensor, which is a view.
	TensorPointer unsafe.Pointer
	// ManagedPointer points to a DLManagedTensorVersioned with an owner.
	ManagedPointer unsafe.Pointer
	// StreamSource points to a dlpackgen_stream_source.
	StreamSource unsafe.Pointer
)

// Stream is a stream of the device with that ordinal. A Handle of 0 is the default stream. NoSync
// corresponds to -1 in Python.
type Stream struct {
	Handle uintptr
	Device int
	NoSync bool
}

// Allocation describes an allocation. Stream uses the memory first.
type Allocation struct {
	Device     Device
	DType      DataType
	Shape      []int64
	Stream     uintptr
	PeerAccess bool // other devices may read and write it
}
