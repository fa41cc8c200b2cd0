//go:build ignore

// Package device has the types of the packages cuda, rocm, oneapi and shm, and of every backend
// of a config: a function that takes a Stream, an Allocation or a Pointer takes those of any of
// them.
package device
