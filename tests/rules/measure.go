// Package rules tests that C, C++, Go and Python give the same verdict and the same numbers for
// every tensor. The code that is not in test files serves these tests only: Go allows no cgo in
// test files.
package rules

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdint.h>
// #include <stdlib.h>
//
// static void call(void *f, const void *tensor, int64_t *numbers) {
//     ((void (*)(const void *, int64_t *))f)(tensor, numbers);
// }
//
// static int start(void *f, const char *home) { return ((int (*)(const char *))f)(home); }
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// Measured is what a language makes of a tensor.
type Measured struct {
	Fault             int64 // the code of C and C++
	Strict            int64 // that of a module for Python, which takes nothing unknown
	Alignment         int64
	RowMajor, Overlap int64 // 1 or 0
	Count, Bytes      int64 // Bytes is -1 for more than 63 bits
	Low, High         int64 // the byte range, from the first element
	Strides           int64 // a hash of the strides; of those that are left out, of a compact tensor's
}

// Language is a library that measures tensors.
type Language struct{ measure unsafe.Pointer }

// Open loads a library, which is built by a test: the go command would not see that the
// headers which it includes have changed.
func Open(library string) (Language, error) {
	handle, err := load(library)
	if err != nil {
		return Language{}, err
	}
	return Language{find(handle, "measure")}, nil
}

func load(library string) (unsafe.Pointer, error) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	return handle, nil
}

func find(handle unsafe.Pointer, symbol string) unsafe.Pointer {
	name := C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	return C.dlsym(handle, name)
}

// starting lets one library at a time start Python, which all of them share.
var starting sync.Mutex

// OpenPython loads a library with a module for the Python that lies below home.
func OpenPython(library, home string) (Language, error) {
	handle, err := load(library)
	if err != nil {
		return Language{}, err
	}
	at := C.CString(home)
	defer C.free(unsafe.Pointer(at))
	starting.Lock()
	defer starting.Unlock()
	if C.start(find(handle, "start"), at) != 0 {
		return Language{}, errors.New("no module for Python was made")
	}
	return Language{find(handle, "measure")}, nil
}

// Measure is what the language makes of a tensor.
func (l Language) Measure(m *dlpack.DLManagedTensorVersioned) (found Measured) {
	C.call(l.measure, unsafe.Pointer(m), (*C.int64_t)(unsafe.Pointer(&found)))
	return found
}
