//go:build ignore

// Package device has the memory and the streams of a device, through the driver
// that is found at run time. It links nothing but libdl, so it builds and runs
// where there is no driver: each call then says why. Every call makes one crossing
// into C, leaves nothing on the thread, and may be made by any goroutine. Built
// without cgo, or with the tag nodevice, the package has the same functions, and
// every call says so.
package device
