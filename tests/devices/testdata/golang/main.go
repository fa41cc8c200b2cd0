// Command golang uses a backend's Go package with the available driver, and prints the results.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/backends/cuda"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// kDLCUDA is device 1, or the first argument.
var kDLCUDA = cuda.Device{Type: 2, ID: ordinal()}

func ordinal() int32 {
	if len(os.Args) < 2 {
		return 1
	}
	n, err := strconv.ParseInt(os.Args[1], 10, 32)
	return check(int32(n), err)
}

func request(n int64) cuda.Allocation {
	return cuda.Allocation{Device: kDLCUDA, DType: cuda.DataType{Code: 2, Bits: 32, Lanes: 1}, Shape: []int64{n, 4}}
}

func main() {
	facts, err := cuda.Probe()
	fmt.Println("probe", facts, err)
	var failure *cuda.Error
	if errors.As(err, &failure) {
		fmt.Println("code", failure.Code, failure.DriverCode)
		return
	}
	tensor := check(cuda.Allocate(request(3)))
	imported(tensor)
	current()
	crossings()
	borrows()
	mistakes()
	together()
}

func check[T any](v T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return v
}

func must(err error) { check(0, err) }

// handles and source are the dlpackgen_stream_source of a program with one stream per device:
// package variables do not move.
var (
	handles = [2]uintptr{2, 2}
	source  = struct{ current, state, handles, count uintptr }{handles: uintptr(unsafe.Pointer(&handles)), count: 2}
)

// current queries the stream of a device, without a source and with a source of two devices.
func current() {
	here := cuda.StreamSource(&source)
	fmt.Println(check(cuda.CurrentWorkStream(nil, kDLCUDA)), check(cuda.CurrentWorkStream(here, kDLCUDA)))
	_, err := cuda.CurrentWorkStream(here, cuda.Device{Type: 2, ID: 99})
	fmt.Println(err)
}

// imported passes a tensor to the bindings, which release it.
func imported(tensor cuda.ManagedPointer) {
	m := check(dlpack.Import((*dlpack.DLManagedTensorVersioned)(tensor)))
	info := check(cuda.PointerAttributes(m.Tensor().Addr()))
	fmt.Println("imported", m.Tensor().Shape(), m.Tensor().Device(), info.Device, info.Ordinal, info.Size)
	m.Release()
}

// crossings measures the cost of each call: one crossing, and no Go memory.
func crossings() {
	stream := check(cuda.DefaultStream(kDLCUDA))
	other := check(cuda.StreamFromDLPack(kDLCUDA, 2))
	tensor := check(cuda.Allocate(request(3)))
	view := cuda.TensorPointer(&(*dlpack.DLManagedTensorVersioned)(tensor).DLTensor)
	address := uintptr((*dlpack.DLManagedTensorVersioned)(tensor).DLTensor.Data)
	calls := []struct {
		name string
		call func()
	}{
		{"PointerAttributes", func() { check(cuda.PointerAttributes(address)) }},
		{"StreamFromDLPack", func() { check(cuda.StreamFromDLPack(kDLCUDA, 2)) }},
		{"CurrentWorkStream", func() { check(cuda.CurrentWorkStream(nil, kDLCUDA)) }},
		{"StreamWait", func() { must(cuda.StreamWait(other, stream)) }},
		{"KeepUntil", func() { must(cuda.KeepUntil(tensor, other)) }},
		{"Copy", func() { must(cuda.Copy(view, view, stream)) }},
		{"StreamSynchronize", func() { must(cuda.StreamSynchronize(stream)) }},
		{"Allocate and Deallocate", func() { must(cuda.Deallocate(check(cuda.Allocate(request(1))))) }},
	}
	for _, c := range calls {
		c.call()
		before := runtime.NumCgoCall()
		c.call()
		fmt.Println(c.name, runtime.NumCgoCall()-before, testing.AllocsPerRun(100, c.call))
	}
	must(cuda.Deallocate(tensor))
}

// borrows counts the crossings to read a host tensor through the bindings, and to read a device
// tensor, for whose memory the driver is queried.
func borrows() {
	m := check(dlpack.Import((*dlpack.DLManagedTensorVersioned)(check(cuda.Allocate(request(3))))))
	defer m.Release()
	borrow := func() uintptr {
		t := m.Tensor()
		if len(t.Shape()) != 2 {
			panic("a tensor of two dimensions was allocated")
		}
		return t.Addr()
	}
	count := func(call func()) int64 {
		before := runtime.NumCgoCall()
		call()
		return runtime.NumCgoCall() - before
	}
	host := count(func() { borrow() })
	device := count(func() {
		if check(cuda.PointerAttributes(borrow())).Device != kDLCUDA {
			panic("memory of another device")
		}
	})
	fmt.Println("a borrow of a device's tensor adds", device-host)
}

func mistakes() {
	_, err := cuda.Allocate(cuda.Allocation{Device: cuda.Device{Type: 2, ID: 9},
		DType: cuda.DataType{Code: 2, Bits: 32, Lanes: 1}})
	fmt.Println(err)
	_, err = cuda.StreamFromDLPack(kDLCUDA, 0)
	fmt.Println(err)
	fmt.Println(cuda.Deallocate(nil), cuda.StreamWait(cuda.Stream{NoSync: true}, cuda.Stream{}))
}

// together frees on other goroutines than the allocating ones.
func together() {
	tensors := make(chan cuda.ManagedPointer)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				tensors <- check(cuda.Allocate(request(2)))
			}
		})
		group.Go(func() {
			for range 100 {
				must(cuda.Deallocate(<-tensors))
			}
		})
	}
	group.Wait()
	fmt.Println("together")
}
