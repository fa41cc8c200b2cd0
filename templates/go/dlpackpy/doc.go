//go:build ignore

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
//		{Name: "double", Params: []string{"x"}, Doc: "Doubles a tensor in place.", Call: double},
//	}}
//
//	//export PyInit_twice
//	func PyInit_twice() unsafe.Pointer { return module.Init() }
//
//	func double(call *dlpackpy.Call) (any, error) {
//		values, err := dlpackpy.WritableData[float32](call, 0)
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
// up meanwhile. Its holder must not wait for a goroutine that needs it; one
// that releases a tensor may, since the deleter of its producer may.
//
// Deleters need no care: those of Go's tensors run on any thread, with or without
// the lock, and [dlpack.Managed.Release] may be called by any goroutine.
//
// # What a tensor is
//
// An object is taken by the exchange table of its type, if that type has one of
// its own, __dlpack_c_exchange_api__, and else by its __dlpack__ method; a table
// that a type inherits is not used, since it does not know what the derived type
// changes. Tensors of torch and of Go are borrowed; all others are owned until the
// function returns, since reading them may run any code. On each way, a tensor is
// rejected where its memory does not hold its values: with a BufferError where
// there is no memory, a negative or conjugate bit, or a mask, and with the
// producer's own exception where that rejects first, as torch does with meta,
// sparse and wrapped tensors.
// A tensor that requires a gradient, and one whose producer is too old to say
// whether it may be written, is read-only; torch rejects a Parameter altogether,
// by its __dlpack__: pass x.detach(). Torch does not see that Go writes: where
// backward still needs the old values, call torch.autograd.graph.increment_version.
// Nor does a table of torch say that a tensor's storage was resized to less than the
// tensor needs, unless nothing is left of it: such a tensor reaches beyond its memory.
// Torch's table does not tell how large a storage is: a tensor whose storage was
// resized to less than it needs, but not to nothing, is read beyond its end, as by
// torch's own functions.
//
// # Code of Python during a call
//
// To read an argument may run code of Python, such as __dlpack__ or __index__, and
// that may resize or free the memory of a tensor that was borrowed before. Each
// method of [Call] compares, once such code has run, all that is borrowed with what
// it was, and fails with a BufferError where something has changed; so do then all
// further methods, and the call itself. A caller that passes over an error must not use a
// tensor that was borrowed before it. What a function runs by other means, as when
// it releases a [dlpack.Managed], is not noticed until the next method.
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
