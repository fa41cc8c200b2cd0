//go:build ignore && (!cgo || nodevice)

package device

import "unsafe"

// USMTable returns nil.
func USMTable() unsafe.Pointer { return nil }

// DeviceID fails.
func DeviceID(int) (int32, error) { return 0, errOff }

// SetDeviceIDs fails.
func SetDeviceIDs(map[uintptr]int32) error { return errOff }

// CheckTensor fails.
func CheckTensor(TensorPointer, CheckFlags) (Pointer, error) { return Pointer{}, errOff }
