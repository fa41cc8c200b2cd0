//go:build ignore

// Package device contains the types of the packages cuda, rocm, oneapi and shm, and of every
// backend of a config. A function with a Stream, an Allocation or a Pointer accepts those of every
// backend.
package device
