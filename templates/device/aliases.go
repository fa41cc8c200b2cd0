//go:build ignore

package device

import "dlpackgen.invalid/device"

// The types are those of package device, which all backends share.
type (
	// Device is a DLDevice.
	Device = device.Device
	// DataType is a DLDataType.
	DataType = device.DataType
	// Error is the error of a failed call.
	Error = device.Error
	// DriverInfo is what the driver reports about itself.
	DriverInfo = device.DriverInfo
	// Pointer is the driver's information about an address.
	Pointer = device.Pointer
	// TensorPointer points to a DLTensor in C memory.
	TensorPointer = device.TensorPointer
	// ManagedPointer points to a DLManagedTensorVersioned in C memory.
	ManagedPointer = device.ManagedPointer
	// StreamSource points to a dlpackgen_stream_source in C memory.
	StreamSource = device.StreamSource
	// Allocation describes an allocation.
	Allocation = device.Allocation
	// Stream is a stream of a device.
	Stream = device.Stream
)
