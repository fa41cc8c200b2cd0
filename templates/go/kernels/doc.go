//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

// Package kernels calls the kernels of the config: each is a function that checks every argument
// and calls the C function that its author wrote.
//
// A call makes one crossing into C and allocates nothing. Results are written into tensors of the
// caller; the functions whose names end in New allocate them. An error is a [*KernelError].
//
// The package has the checks, not the kernels: link the author's C by a Go package with it, or by
// CGO_LDFLAGS.
package kernels
