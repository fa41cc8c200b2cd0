//go:build ignore

package device

import "dlpackgen.invalid/device"

// The types are those of package device, which all backends share.
type (
	// Device is a DLDevice.
	Device = device.Device
	// DType is a DLDataType.
	DType = device.DType
	// Error is why a call failed.
	Error = device.Error
	// Facts are what the driver says of itself.
	Facts = device.Facts
	// Pointer is what the driver knows of an address.
	Pointer = device.Pointer
	// Request is what to allocate.
	Request = device.Request
	// Stream is a stream of a device.
	Stream = device.Stream
)
