//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

// Package tvmffi calls functions of tvm-ffi: kernels that a library exports for it, and functions
// that TVM and others register by name.
//
//	library, err := tvmffi.Open("libkernels.so")
//	if err != nil {
//		return err
//	}
//	add, err := library.Func("add")
//	if err != nil {
//		return err
//	}
//	_, err = add.Call(tvmffi.Tensor(a), tvmffi.Tensor(b), tvmffi.Tensor(sum))
//
// A call makes one crossing into C. With results that are numbers or None it allocates nothing.
//
// Libraries of plain kernels need nothing else. libtvm_ffi is needed for the messages of their
// errors, for [Global], [NewFunc], [NewTensor], [LoadModule], and for results that are objects;
// [LoadRuntime] loads it. Without it these return [ErrRuntime].
//
// # Lifetimes
//
// Arguments are borrowed for the call. A result that is an object, such as a tensor, is owned:
// release it by [Value.Release]. The garbage collector releases nothing, since tensors and slices
// may outlive the Value. Texts and bytes are copied, and need no release.
//
// # Threads
//
// Goroutines may call one function at once, if the function itself allows that. A call stays on
// its thread. Another call may run on another one, so that state of tvm-ffi that belongs to a
// thread, as its current stream, is not kept between calls. [Library.Close] and [Value.Release]
// must not run while another goroutine uses what they end.
package tvmffi
