// Package templates holds what the emitted files look like: a template for what
// the spec decides, an ordinary source file for what it does not. It renders
// nothing.
package templates

import "embed"

// C has dlpack.h and the headers beside it.
//
//go:embed c
var C embed.FS

// Go is the run time of the Go bindings. The build term "ignore" keeps its Go and C
// files out of every build of this repository, and their imports from go mod tidy.
//
//go:embed go
var Go embed.FS

// Python is what every extension module for Python builds on, in C.
//
//go:embed python
var Python embed.FS

// Cpp is the headers of C++, and templates for those that the spec decides.
//
//go:embed cpp
var Cpp embed.FS

// Torch is what is compiled against libtorch: sources of C++, and a package of
// Python that loads what was built of them.
//
//go:embed torch torch/__init__.py
var Torch embed.FS

// Device is the back ends for devices: one interface in C, the sources behind it,
// a template for what a back end's description decides, and a package of Go.
//
//go:embed device
var Device embed.FS

// Shm is the back end that shares memory of the host between processes: sources of
// C, a package of Go and a module for Python.
//
//go:embed shm
var Shm embed.FS
