// Package rules tests that C, C++, Go and Python have the same verdict and the same numbers for
// every tensor. Go's bindings compute no overlap, and only two layouts: row-major and column-major.
// They do not return their byte range: the tests find its ends by the addresses at which Go accepts
// the tensor. The overlap and the other layouts of C are compared with their definitions instead.
//
// The fast checks of C and Go must accept only tensors that the rules accept; a failed test names
// those that accept others.
//
// The code outside of test files serves only these tests: Go does not allow cgo in test files.
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
// static int64_t ask(void *f, const void *tensor) {
//     return ((int64_t (*)(const void *))f)(tensor);
// }
//
// static int64_t accepts(void *f, void *made, const void *requested) {
//     return ((int64_t (*)(void *, const void *))f)(made, requested);
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

// Measured contains a language's results for a tensor.
type Measured struct {
	Fault        int64 // the code of C and C++
	Strict       int64 // the code of a Python module, which accepts no unknown numbers
	Alignment    int64
	RowMajor     int64 // 1 or 0, and the next four too
	ColumnMajor  int64
	Inner        int64 // only the last dimension is contiguous
	AnyOrder     int64 // one block, with the dimensions in any order
	Overlap      int64
	Count, Bytes int64 // Bytes is -1 for more than 63 bits
	Low, High    int64 // the byte range, from the first element
	Strides      int64 // a hash of the strides; for missing strides, of a compact tensor's
}

// Language is a library that measures tensors, and judges allocated ones.
type Language struct{ measure, accepts unsafe.Pointer }

// Open loads a library that a test has built: the go command would not detect changes of its
// included headers.
func Open(library string) (Language, error) {
	handle, err := load(library)
	if err != nil {
		return Language{}, err
	}
	return language(handle), nil
}

func language(handle unsafe.Pointer) Language {
	return Language{find(handle, "measure"), find(handle, "accepts")}
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

// FastChecks are the fast checks of C.
type FastChecks struct{ accepting unsafe.Pointer }

// OpenFast loads a library with them.
func OpenFast(library string) (FastChecks, error) {
	handle, err := load(library)
	if err != nil {
		return FastChecks{}, err
	}
	return FastChecks{find(handle, "accepting")}, nil
}

// Accepting returns a bit for each check that accepts a tensor.
func (c FastChecks) Accepting(m *dlpack.DLManagedTensorVersioned) int64 {
	return int64(C.ask(c.accepting, unsafe.Pointer(m)))
}

// plain is Go's fast check.
//
//go:linkname plain github.com/dlpackgen/dlpackgen/gen/go/dlpack.plain
func plain(*dlpack.DLTensor) bool

// starting serializes the start of Python, which all libraries share.
var starting sync.Mutex

// OpenPython loads a library with a module for the Python below home.
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
		return Language{}, errors.New("no Python module was created")
	}
	return language(handle), nil
}

// Measure returns the language's results for a tensor.
func (l Language) Measure(m *dlpack.DLManagedTensorVersioned) (found Measured) {
	C.call(l.measure, unsafe.Pointer(m), (*C.int64_t)(unsafe.Pointer(&found)))
	return found
}

// Accepts reports whether the language accepts a tensor that an exchange table has allocated for a
// request.
func (l Language) Accepts(made *dlpack.DLManagedTensorVersioned, requested *dlpack.DLTensor) bool {
	return C.accepts(l.accepts, unsafe.Pointer(made), unsafe.Pointer(requested)) != 0
}
