// Package rules holds C, C++ and Go to the same verdict and the same numbers on every
// tensor. It is made for its own tests: Go allows no cgo in test files.
package rules

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdint.h>
// #include <stdlib.h>
//
// static void call(void *f, const void *tensor, int64_t *numbers) {
//     ((void (*)(const void *, int64_t *))f)(tensor, numbers);
// }
import "C"

import (
	"errors"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// Measured is what a language makes of a tensor.
type Measured struct {
	Fault             int64 // the code of C and C++
	Alignment         int64
	RowMajor, Overlap int64 // 1 or 0
	Count, Bytes      int64 // Bytes is -1 for more than 63 bits
	Low, High         int64 // the byte range, from the first element
}

// Language is a library that measures tensors.
type Language struct{ measure unsafe.Pointer }

// Open loads a library, which is built by a test: the go command would not see that the
// headers which it includes have changed.
func Open(library string) (Language, error) {
	name, symbol := C.CString(library), C.CString("measure")
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(symbol))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return Language{}, errors.New(C.GoString(C.dlerror()))
	}
	return Language{C.dlsym(handle, symbol)}, nil
}

// Measure is what the language makes of a tensor.
func (l Language) Measure(m *dlpack.DLManagedTensorVersioned) (found Measured) {
	C.call(l.measure, unsafe.Pointer(m), (*C.int64_t)(unsafe.Pointer(&found)))
	return found
}
