// Package main calls the kernels through the Go functions. An error is written as "CLASS:
// SENTENCE".
package main

// #include <string.h>
// #include "called.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"example.com/called/go/dlpack"
	"example.com/called/go/dlpack/kernels"
)

func main() {}

// tensor returns the zero Tensor for a missing argument. The kernels reject it.
func tensor(from *C.struct_lent) dlpack.Tensor {
	if from == nil {
		return dlpack.Tensor{}
	}
	var flags dlpack.Flags
	if from.read_only != 0 {
		flags = dlpack.FlagReadOnly
	}
	return dlpack.CheckedTensor((*dlpack.DLTensor)(unsafe.Pointer(&from.tensor)), flags)
}

// write copies an error to a buffer.
func write(err error, text *C.char, size C.size_t) {
	printed := ""
	if of := (*kernels.KernelError)(nil); errors.As(err, &of) {
		printed = of.Class + ": " + of.Message
	} else if err != nil {
		printed = fmt.Sprintf("%T: %v", err, err)
	}
	into := unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size))
	into[copy(into[:size-1], printed)] = 0
}

// copied writes the bytes of a result.
func copied(t dlpack.Tensor, into []byte) error {
	if t.NBytes() != len(into) {
		return fmt.Errorf("a result of %d bytes, not %d", t.NBytes(), len(into))
	}
	copy(into, unsafe.Slice((*byte)(t.Pointer()), len(into)))
	return nil
}

//export call_mix
func call_mix(call *C.struct_mixed, into unsafe.Pointer, bytes C.size_t, text *C.char, size C.size_t) {
	o := kernels.MixOptions{Also: kernels.Some(call.also != 0), Bias: tensor(call.bias)}
	if call.mode != nil {
		o.Mode = kernels.Some(C.GoString(call.mode))
	}
	if call.nsizes >= 0 {
		o.Sizes = unsafe.Slice((*int64)(unsafe.Pointer(call.sizes)), int(call.nsizes))
	}
	made, err := kernels.MixNew(tensor(call.x), tensor(call.weight), tensor(call.places), float64(call.by),
		int64(call.times), o)
	if err == nil {
		defer made.Release()
		err = copied(made.Tensor(), unsafe.Slice((*byte)(into), int(bytes)))
	}
	write(err, text, size)
}

//export call_fill
func call_fill(tiny C.int8_t, x, y *C.struct_lent, text *C.char, size C.size_t) {
	write(kernels.Fill(int8(tiny), tensor(x), tensor(y)), text, size)
}
