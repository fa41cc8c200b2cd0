// Command go-numpy is a shared library for Python, written in Go on the
// generated bindings: it takes arrays of NumPy and gives out slices of Go,
// without copying either. Python calls all of it with its interpreter lock held
// (ctypes.PyDLL), so an error here becomes an exception there.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../gen/go/dlpack
#cgo linux LDFLAGS: -ldl
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
void gonumpy_raise(const char *text);
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

func main() {}

// matrix is what Go gives to Python.
type matrix struct {
	data    []float64
	options dlpack.ExportOptions
}

// handles counts what Python has taken and not dropped.
var handles atomic.Int64

// gonumpyTake imports the tensor of a capsule, which Go owns from here on, and
// gives a handle on it; 0 with an exception.
//
//export gonumpyTake
func gonumpyTake(pointer unsafe.Pointer, versioned bool) C.uintptr_t {
	var managed *dlpack.Managed
	var err error
	if versioned {
		managed, err = dlpack.Import((*dlpack.DLManagedTensorVersioned)(pointer))
	} else {
		managed, err = dlpack.ImportLegacy((*dlpack.DLManagedTensor)(pointer))
	}
	if failed(err) {
		return 0
	}
	return handleOf(managed)
}

// gonumpyLayout writes address, flags and ndim, then the shape, then the
// strides, of a tensor that was taken.
//
//export gonumpyLayout
func gonumpyLayout(handle C.uintptr_t, out *C.int64_t, room C.int) C.int {
	t := tensorOf(handle)
	numbers := []int64{int64(t.Addr()), int64(t.Flags()), int64(t.NDim())}
	numbers = append(append(numbers, t.Shape()...), t.Strides()...)
	return C.int(copy(unsafe.Slice((*int64)(unsafe.Pointer(out)), room), numbers))
}

// gonumpySum adds up a float64 tensor.
//
//export gonumpySum
func gonumpySum(handle C.uintptr_t, out *C.double) bool {
	values, err := dlpack.Data[float64](tensorOf(handle))
	if failed(err) {
		return false
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	*out = C.double(sum)
	return true
}

// gonumpyScale multiplies a float64 tensor, in the memory of NumPy.
//
//export gonumpyScale
func gonumpyScale(handle C.uintptr_t, factor C.double) bool {
	// NumPy has no legacy capsules of read-only arrays
	values, err := dlpack.WritableData[float64](managedOf(handle).WritableTensor())
	if failed(err) {
		return false
	}
	for i := range values {
		values[i] *= float64(factor)
	}
	return true
}

// gonumpyMatrix makes a matrix in Go's memory that counts from 0 upwards. A
// transposed one has its rows where the columns lie in memory.
//
//export gonumpyMatrix
func gonumpyMatrix(rows, columns C.int, transposed, readOnly bool) C.uintptr_t {
	m := &matrix{data: make([]float64, rows*columns)}
	for i := range m.data {
		m.data[i] = float64(i)
	}
	m.options.Shape = []int64{int64(rows), int64(columns)}
	if transposed {
		m.options.Strides = []int64{1, int64(rows)}
	}
	if readOnly {
		m.options.Flags = dlpack.FlagReadOnly
	}
	return handleOf(m)
}

// gonumpyGive exports a matrix; nil with an exception.
//
//export gonumpyGive
func gonumpyGive(handle C.uintptr_t, versioned bool) unsafe.Pointer {
	m, ok := cgo.Handle(handle).Value().(*matrix)
	if !ok {
		failed(fmt.Errorf("the handle %d is not a matrix", handle))
		return nil
	}
	if versioned {
		p, err := dlpack.ExportWith(m.data, m.options)
		failed(err)
		return unsafe.Pointer(p)
	}
	p, err := dlpack.ExportLegacy(m.data, m.options)
	failed(err)
	return unsafe.Pointer(p)
}

// gonumpyAddress is where a matrix lies.
//
//export gonumpyAddress
func gonumpyAddress(handle C.uintptr_t) C.uintptr_t {
	m := cgo.Handle(handle).Value().(*matrix)
	return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(m.data))))
}

// gonumpyDrop ends a handle, and with it the tensor that Go had taken.
//
//export gonumpyDrop
func gonumpyDrop(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	if managed, ok := h.Value().(*dlpack.Managed); ok {
		managed.Release()
	}
	h.Delete()
	handles.Add(-1)
}

// gonumpyLive counts what has not been given back: handles, and exports that a
// consumer still holds.
//
//export gonumpyLive
func gonumpyLive() C.int { return C.int(handles.Load()) + C.int(dlpack.Drain()) }

// gonumpyCollect gives back to the system all memory that Go does not need.
//
//export gonumpyCollect
func gonumpyCollect() { debug.FreeOSMemory() }

func handleOf(value any) C.uintptr_t {
	handles.Add(1)
	return C.uintptr_t(cgo.NewHandle(value))
}

// tensorOf gives the tensor behind a handle; the zero Tensor, of which every
// function of dlpack says what is wrong, for a handle on something else.
func tensorOf(handle C.uintptr_t) dlpack.Tensor { return managedOf(handle).Tensor() }

func managedOf(handle C.uintptr_t) *dlpack.Managed {
	if managed, ok := cgo.Handle(handle).Value().(*dlpack.Managed); ok {
		return managed
	}
	return new(dlpack.Managed)
}

// failed makes an error the exception that Python raises when the call returns.
func failed(err error) bool {
	if err != nil {
		text := C.CString(err.Error())
		defer C.free(unsafe.Pointer(text))
		C.gonumpy_raise(text)
	}
	return err != nil
}
