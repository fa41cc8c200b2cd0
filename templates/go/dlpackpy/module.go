//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include <stdlib.h>
// #include "python.h"
import "C"

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Module is a Python module whose functions are written in Go. It has one more
// attribute, Tensor: the type of the tensors that its functions give out.
type Module struct {
	Name      string // by which Python imports it
	Doc       string
	Functions []Function
}

// Function is a function of a module. It takes positional arguments.
type Function struct {
	Name string
	Doc  string
	// Call does the work and gives the result: nil for None, a bool, an int, an
	// int64, a float64, a string, an [Object], a slice of such ([]any) for a tuple,
	// or a tensor, which is taken over: *dlpack.DLManagedTensorVersioned as
	// dlpack.Export makes it, or *dlpack.Managed.
	//
	// An error becomes an exception: an [*Exception] the one that it names, any
	// error of package dlpack a BufferError, except for MemoryError, and all
	// others a RuntimeError, as does a panic.
	Call func(*Call) (any, error)
}

// functions are all of the modules of this program; a number of C's is an index.
// Readers take no lock.
var functions struct {
	adding sync.Mutex
	all    atomic.Pointer[[]*Function]
}

func functionOf(number C.uintptr_t) *Function { return (*functions.all.Load())[number] }

func register(f *Function) C.uintptr_t {
	functions.adding.Lock()
	defer functions.adding.Unlock()
	var all []*Function
	if old := functions.all.Load(); old != nil {
		all = *old
	}
	all = append(slices.Clip(all), f)
	functions.all.Store(&all)
	return C.uintptr_t(len(all) - 1)
}

// Init makes the module and gives a new reference to it. It is what the exported
// function PyInit_NAME returns, and must be called by nobody but Python's
// import. It gives nil, with an exception, where it fails.
func (m *Module) Init() unsafe.Pointer {
	if missing := C.dlp_00000000_py_open(); missing != nil {
		return nil
	}
	if err := prepare(); err != nil {
		raise(err)
		return nil
	}
	if !C.dlp_00000000_py_make_constants() {
		return nil
	}
	made := C.dlp_00000000_py_module(C.CString(m.Name), C.CString(m.Doc), C.CString(m.Name+".Tensor"))
	for i := range m.Functions {
		f := &m.Functions[i]
		if made != 0 && !C.dlp_00000000_py_add(made, C.CString(f.Name), C.CString(f.Doc), register(f)) {
			C.dlp_00000000_py_drop(made)
			made = 0
		}
	}
	return pointer(uintptr(made))
}

// prepare makes the exchange table of the type of tensors, once.
var prepare = sync.OnceValue(func() error {
	inner, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	if err != nil {
		return err
	}
	table, err := dlpack.NewExchangeAPI(dlpack.Producer{
		Functions: dlpack.DLPackExchangeAPI{
			ManagedTensorFromPyObjectNoSync: uintptr(unsafe.Pointer(C.dlp_00000000_py_managed)),
			ManagedTensorToPyObjectNoSync:   uintptr(unsafe.Pointer(C.dlp_00000000_py_wrap)),
			DltensorFromPyObjectNoSync:      uintptr(unsafe.Pointer(C.dlp_00000000_py_borrow)),
		},
		Raise: unsafe.Pointer(C.dlp_00000000_py_set_error),
	})
	if err != nil {
		return err
	}
	C.dlp_00000000_py_prepare((*C.DLPackExchangeAPI)(unsafe.Pointer(inner)), dlpack.ObjectRelease(), (*C.DLPackExchangeAPI)(unsafe.Pointer(table)))
	return nil
})

// pointer makes a pointer of an address in C memory. A typed load, unlike a
// conversion, keeps vet able to do its work.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
