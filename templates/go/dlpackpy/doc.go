//go:build ignore

// Package dlpackpy builds Python extension modules from Go programs. Their functions accept tensors
// of any library that implements DLPack, and return Go tensors, without copying either.
//
// A module is a program that is built with -buildmode=c-shared, and named as Python imports it:
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
// The build does not need Python: the functions of Python's stable ABI are looked up in the process
// that imports the module, so one file works with Python 3.10 and newer.
//
// # The GIL
//
// The GIL belongs to a thread. A function of a module runs with the GIL, on the thread of its
// caller. Call methods of its [Call] only in the goroutine in which the function started.
// [Call.WithoutGIL] releases the GIL temporarily. While you hold it, do not wait for a goroutine
// that may need it: this includes goroutines that release tensors, because the producer's deleter
// may need the GIL.
//
// Deleters of Go tensors run on any thread, with or without the GIL, and [dlpack.Managed.Release]
// may be called from any goroutine.
//
// # How tensors are read
//
// An object is read through the exchange table of its type, __dlpack_c_exchange_api__, or through
// its __dlpack__ method. An inherited table is not used, because the derived type may behave
// differently. Tensors of torch and of Go are borrowed. All others are owned until the function
// returns, because reading them may run any code. A tensor is rejected if its values differ from
// its memory: with a BufferError if it has no memory, a negative or conjugate bit, or a mask, or
// with the producer's own exception, which torch raises for meta, sparse and wrapped tensors. A
// tensor is read-only if it requires a gradient, or if its producer is too old to declare that it
// is writable. torch rejects a Parameter in its __dlpack__: pass x.detach(). torch does not notice
// that Go writes to a tensor: if backward still needs the old values, call
// torch.autograd.graph.increment_version. torch's table does not report the size of a storage: if
// the storage of a tensor was resized to less than the tensor needs, but not to 0, the tensor is
// read beyond its end, as by torch's own functions.
//
// # Python code during a call
//
// Reading an argument may run Python code, such as __dlpack__ or __index__. This code may resize or
// free the memory of a tensor that was borrowed before. After such code has run, each method of
// [Call] compares all borrowed tensors with their earlier state. If one has changed, the method,
// all further methods and the call itself fail with a BufferError. After an error, do not use
// tensors that were borrowed before it. Code that a function runs in other ways, for example by
// releasing a [dlpack.Managed], is detected only by the next method.
//
// # Errors and the end of a call
//
// An error is raised as an exception: an [Exception] by its name, and a Python exception from the
// call unchanged. A panic is raised as a RuntimeError. Goexit ends the process. A result that is
// returned with an error is released.
//
// # Processes
//
// Go's threads do not exist in a child of fork: a function that is called there raises a
// RuntimeError. Use the start methods spawn and forkserver.
package dlpackpy
