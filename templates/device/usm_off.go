//go:build ignore && (!cgo || nodevice)

package device

import "unsafe"

// USMTable gives nil: there is none.
func USMTable() unsafe.Pointer { return nil }

// ID fails.
func ID(int) (int32, error) { return 0, errOff }

// Number fails.
func Number(map[uintptr]int32) error { return errOff }

// Import fails.
func Import(unsafe.Pointer, bool) (Pointer, error) { return Pointer{}, errOff }
