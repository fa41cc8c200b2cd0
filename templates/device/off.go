//go:build ignore && (!cgo || nodevice)

package device

import "unsafe"

// errOff has the code of a missing driver.
var errOff = &Error{Code: 1,
	Message: "dlpackgen_device_word: this program was built without cgo, or with the tag nodevice; build it with cgo"}

// Table returns nil.
func Table() unsafe.Pointer { return nil }

// Probe fails.
func Probe() (DriverInfo, error) { return DriverInfo{}, errOff }

// PointerAttributes fails.
func PointerAttributes(uintptr) (Pointer, error) { return Pointer{}, errOff }

// Allocate fails.
func Allocate(Allocation) (ManagedPointer, error) { return nil, errOff }

// Deallocate accepts only nil, because there is nothing else to free.
func Deallocate(tensor ManagedPointer) error {
	if tensor == nil {
		return nil
	}
	return errOff
}

// StreamFromDLPack fails.
func StreamFromDLPack(Device, int64) (Stream, error) { return Stream{}, errOff }

// DefaultStream fails.
func DefaultStream(Device) (Stream, error) { return Stream{}, errOff }

// CurrentWorkStream fails.
func CurrentWorkStream(StreamSource, Device) (Stream, error) { return Stream{}, errOff }

// StreamWait fails.
func StreamWait(_, _ Stream) error { return errOff }

// KeepUntil fails.
func KeepUntil(ManagedPointer, Stream) error { return errOff }

// Copy fails.
func Copy(_, _ TensorPointer, _ Stream) error { return errOff }

// StreamSynchronize fails.
func StreamSynchronize(Stream) error { return errOff }
