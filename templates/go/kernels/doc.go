//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

// Package kernels calls the kernels of the config. Each kernel is a function that checks every
// argument and calls your C function.
//
// A call crosses into C once and allocates nothing. Results are written to tensors of the caller;
// functions whose names end in New allocate them. An error is a [*KernelError].
//
// The package contains the checks, but not the kernels: link your C through a Go package that
// contains it, or with CGO_LDFLAGS.
package kernels
