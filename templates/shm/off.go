//go:build ignore && (!linux || !cgo || nodevice)

package shm

import (
	"syscall"
	"unsafe"
)

// errOff has the code of a missing driver.
var errOff = &Error{Code: 1,
	Message: "shm: this program was built for a system other than Linux, without cgo, or with the tag nodevice; build " +
		"it " +
		"with cgo, for Linux"}

// Table returns nil.
func Table() unsafe.Pointer { return nil }

// Probe fails.
func Probe() error { return errOff }

// PointerAttributes fails.
func PointerAttributes(uintptr) (Pointer, error) { return Pointer{}, errOff }

// Allocate fails.
func Allocate(DataType, ...int64) (ManagedPointer, error) { return nil, errOff }

// Deallocate accepts only nil, because there is nothing else to free.
func Deallocate(tensor ManagedPointer) error {
	if tensor == nil {
		return nil
	}
	return errOff
}

// Send fails.
func Send(syscall.Conn, TensorPointer, SendFlags) error { return errOff }

// Receive fails.
func Receive(syscall.Conn) (ManagedPointer, error) { return nil, errOff }

// Copy fails.
func Copy(_, _ TensorPointer) error { return errOff }
