//go:build ignore

package device

import "dlpackgen.invalid/device"

// The types are those of package device, which all backends share.
type (
	// Device is a DLDevice.
	Device = device.Device
	// DataType is a DLDataType.
	DataType = device.DataType
	// Error is why a call failed.
	Error = device.Error
	// DriverInfo is what the driver reports about itself.
	DriverInfo = device.DriverInfo
	// Pointer is what the driver knows of an address.
	Pointer = device.Pointer
	// TensorPointer points to a DLTensor in memory of C.
	TensorPointer = device.TensorPointer
	// ManagedPointer points to a DLManagedTensorVersioned in memory of C.
	ManagedPointer = device.ManagedPointer
	// StreamSource points to a dlpackgen_stream_source in memory of C.
	StreamSource = device.StreamSource
	// Allocation is what to allocate.
	Allocation = device.Allocation
	// Stream is a stream of a device.
	Stream = device.Stream
)
