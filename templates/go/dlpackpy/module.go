//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include <stdlib.h>
// #include "python.h"
import "C"

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Module is a Python module whose functions are written in Go. It also has the attribute Tensor,
// the type of the tensors that its functions return.
type Module struct {
	Name      string // by which Python imports it
	Doc       string
	Functions []Function
}

// Function is a function of a module, with positional arguments.
type Function struct {
	Name string
	Doc  string
	// Params are the names of the arguments, as inspect.signature and help show them. Optional
	// arguments come last and have a default, a Python literal such as "scale=1.0". The default is
	// only for documentation: [Call.Len] returns the number of passed arguments. Without Params, a
	// function accepts any arguments.
	Params []string
	// Call implements the function and returns the result: nil for None, a bool, an int, an int64,
	// a float64, a string, an [Object], a slice of these ([]any) for a tuple, or a tensor, whose
	// ownership is transferred: a *dlpack.DLManagedTensorVersioned from dlpack.Export, or a
	// *dlpack.Managed.
	//
	// An error is raised as an exception: an [*Exception] as the exception that it names, and all
	// others as [dlpack.PythonException] specifies. Most errors of package dlpack are raised as a
	// BufferError, and a panic as a RuntimeError.
	Call func(*Call) (any, error)
}

// functions are the functions of all modules of this program, indexed by their numbers in C.
// Readers need no lock.
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

// Init creates the module and returns a new reference to it, or nil with an exception set. The
// exported function PyInit_NAME returns its result. It must be called only during Python's import.
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
	name := C.CString(m.Name)
	made := C.dlp_00000000_py_module(name, C.CString(m.Doc), C.CString(m.Name+".Tensor"))
	for i := range m.Functions {
		f := &m.Functions[i]
		if made != 0 && !C.dlp_00000000_py_add(made, name, C.CString(f.Name), C.CString(f.doc()), register(f)) {
			C.dlp_00000000_py_drop(made)
			made = 0
		}
	}
	return pointer(uintptr(made))
}

// doc returns the text from which Python reads the signature, followed by the documentation.
func (f *Function) doc() string {
	params := []string{"*args"}
	if f.Params != nil {
		params = slices.Clone(f.Params)
	}
	if len(f.Params) > 0 {
		params = append(params, "/")
	}
	return f.Name + "(" + strings.Join(params, ", ") + ")\n--\n\n" + f.Doc
}

// accepts returns an exception if a function does not accept the number of arguments.
func (f *Function) accepts(count int) error {
	if f.Params == nil || count == len(f.Params) {
		return nil
	}
	required := 0
	for _, name := range f.Params {
		if !strings.Contains(name, "=") {
			required++
		}
	}
	if required <= count && count < len(f.Params) {
		return nil
	}
	takes := strconv.Itoa(required)
	if required < len(f.Params) {
		takes = fmt.Sprintf("%d to %d", required, len(f.Params))
	}
	return &Exception{Type: "TypeError",
		Message: fmt.Sprintf("%s() takes %s arguments (%d given)", f.Name, takes, count)}
}

// prepare creates the exchange table of the type Tensor, once.
var prepare = sync.OnceValue(func() error {
	inner, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	if err != nil {
		return err
	}
	table, err := dlpack.NewExchangeAPI(dlpack.Producer{
		Functions: dlpack.DLPackExchangeAPI{
			ManagedTensorFromPyObjectNoSync: uintptr(unsafe.Pointer(C.dlp_00000000_py_managed)),
			ManagedTensorToPyObjectNoSync:   uintptr(unsafe.Pointer(C.dlp_00000000_py_wrap)),
			DLTensorFromPyObjectNoSync:      uintptr(unsafe.Pointer(C.dlp_00000000_py_borrow)),
		},
		Raise: unsafe.Pointer(C.dlp_00000000_py_set_error),
	})
	if err != nil {
		return err
	}
	C.dlp_00000000_py_prepare((*C.DLPackExchangeAPI)(unsafe.Pointer(inner)), dlpack.ObjectRelease(),
		(*C.DLPackExchangeAPI)(unsafe.Pointer(table)))
	return nil
})

// pointer converts an address in C memory to a pointer. It uses a typed load, because vet rejects a
// conversion.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
