//go:build dlpackgen_template

// Package dlpackpy makes extension modules for Python of Go programs, whose
// functions take the tensors of any library by DLPack and give out tensors of
// Go, without copying either.
//
// A module is a program built with -buildmode=c-shared, under the name by which
// Python imports it:
//
//	package main
//
//	import (
//		"C"
//		"unsafe"
//
//		"example.org/dlpack/dlpackpy"
//	)
//
//	var module = dlpackpy.Module{Name: "twice", Functions: []dlpackpy.Function{
//		{Name: "double", Doc: "double(x): doubles a float32 tensor in place", Call: double},
//	}}
//
//	//export PyInit_twice
//	func PyInit_twice() unsafe.Pointer { return module.Init() }
//
//	func double(call *dlpackpy.Call) (any, error) {
//		values, err := dlpackpy.MutableData[float32](call, 0)
//		for i := range values {
//			values[i] *= 2
//		}
//		return nil, err
//	}
//
//	func main() {}
//
// built by
//
//	go build -buildmode=c-shared -o twice.so .
//
// It is built and linked without Python: the functions of Python's stable ABI
// are looked up in the process that imports the module, so one file serves
// Python 3.10 and all later versions.
//
// # The GIL
//
// Python's lock belongs to a thread. A function of a module runs with it, on the
// thread of its caller, and so do all methods of its [Call]: they must be called
// in the goroutine that the function started in. [Call.WithoutGIL] gives the lock
// up meanwhile. Whoever holds it must not wait for a goroutine that needs it; one
// that releases a tensor may, since the deleter of its producer may.
//
// Deleters need no care: those of Go's tensors run on any thread, with or without
// the lock, and [dlpack.Managed.Release] may be called by any goroutine.
//
// # What a tensor is
//
// An object is taken by the exchange table of its type, if that type has one of
// its own, and else by its __dlpack__ method; a table that a type inherits is not
// used, since it does not know what the derived type changes. On each way,
// a tensor is refused where its memory does not hold its values: with a
// BufferError where there is no memory, a negative or conjugate bit, or a mask,
// and with the producer's own exception where that refuses first, as torch does
// with meta, sparse and wrapped tensors.
// A tensor that requires a gradient, and one whose producer is too old to say
// whether it may be written, is read-only; torch refuses a Parameter altogether,
// by its __dlpack__: pass x.detach(). Torch does not see that Go writes: where
// backward still needs the old values, call torch.autograd.graph.increment_version.
//
// # Errors and the end of a call
//
// An error becomes an exception: [Exception] by its name, and what Python raised
// during the call as it was. A panic becomes a RuntimeError. Goexit ends the
// process. A result that is given beside an error is released.
//
// # Processes
//
// A process made by fork has none of Go's threads: a function that is called
// there raises a RuntimeError. Use the start methods spawn and forkserver.
package dlpackpy
