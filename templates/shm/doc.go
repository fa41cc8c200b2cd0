//go:build ignore

// Package shm passes tensors in host memory to other processes on Linux: as a memfd, which has no
// name, over a Unix socket of the caller. The kernel frees the memory when the last process has
// released it or has ended. Every call makes one crossing into C. On other systems, without cgo, or
// with the tag nodevice, the package has the same functions, and every call fails.
package shm
