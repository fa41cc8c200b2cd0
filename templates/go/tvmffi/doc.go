//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

// Package tvmffi calls tvm-ffi functions: kernels that a library exports, and functions that TVM
// and other libraries register by name.
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
// A call crosses into C once. If the result is a number or None, it allocates nothing.
//
// Libraries of kernels need nothing else. libtvm_ffi is required for error messages, for [Global],
// [NewFunc], [NewTensor], [LoadModule], and for results that are objects. [LoadRuntime] loads it.
// Without it, these functions return [ErrRuntime].
//
// # Lifetimes
//
// Arguments are borrowed for the call. A result that is an object, such as a tensor, is owned:
// release it with [Value.Release]. The garbage collector does not release it, because tensors and
// slices may outlive the Value. Texts and bytes are copied, and need no release.
//
// # Threads
//
// Several goroutines may call a function at once, if the function itself supports this. A call
// stays on its thread, but another call may run on another thread, so per-thread state of tvm-ffi,
// such as its current stream, is not preserved between calls. Do not call [Library.Close] or
// [Value.Release] while another goroutine uses the library or the value.
package tvmffi
