//go:build ignore

// Package device provides the memory and the streams of a device, through a driver that is loaded
// at run time. It links only libdl, so it builds and runs without a driver: each call then returns
// an error with the reason. Every call makes one crossing into C, keeps no state on the thread, and
// may be made by any goroutine. Built without cgo, or with the tag nodevice, the package has the
// same functions, and every call returns an error.
package device
