//go:build ignore

// Package shm hands tensors in the host's memory to other processes on Linux: by a
// memfd, which has no name, over a Unix socket of the caller's. The kernel frees the
// memory when the last process is done with it, or dead. Every call makes one
// crossing into C. Elsewhere than on Linux, without cgo, or with the tag nodevice,
// the package has the same functions, and every call fails.
package shm
