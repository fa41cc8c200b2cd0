//go:build ignore

// Package shm hands tensors in the host's memory to other processes on Linux: by a
// memfd, which has no name, over a Unix socket of the caller's. The kernel frees the
// memory when the last process is done with it, or dead. Every call makes one
// crossing into C. Elsewhere than on Linux, without cgo, or with the tag nodevice,
// the package has the same functions, and every call fails.
package shm

// Error is why a call failed. Code is a dlpackgen_device_code of
// dlpackgen_device.h or a dlpackgen_shm_code of dlpackgen_shm.h; Native is errno,
// or 0.
type Error struct {
	Code, Native int
	Text         string
}

// Error gives the text, which begins with "shm: ".
func (e *Error) Error() string { return e.Text }

// DType is a DLDataType.
type DType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Pointer is where an address lies: Base and Size, in bytes, are 0 where that is
// in no tensor of this package.
type Pointer struct{ Base, Size uintptr }
