// Command golang uses the Go package of the oneAPI backend, with the implementation of its build,
// and prints the results.
package main

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/dlpackgen/dlpackgen/backends/oneapi"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

func check[T any](v T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	return v
}

func must(err error) { check(0, err) }

func main() {
	facts := check(oneapi.Probe())
	_, err := oneapi.DeviceID(0)
	fmt.Println("devices", facts.Devices, err == nil)
	fmt.Println(oneapi.SetDeviceIDs(map[uintptr]int32{}))
	must(oneapi.SetDeviceIDs(nil))
	id := check(oneapi.DeviceID(facts.Devices - 1))
	device := oneapi.Device{Type: 14, ID: id}
	request := oneapi.Allocation{Device: device, DType: oneapi.DataType{Code: 2, Bits: 32, Lanes: 1},
		Shape: []int64{3, 4}}
	tensor, other := check(oneapi.Allocate(request)), check(oneapi.Allocate(request))
	view := &(*dlpack.DLManagedTensorVersioned)(tensor).DLTensor
	info := check(oneapi.PointerAttributes(uintptr(view.Data)))
	fmt.Println("pointer", info.Device == device, info.Ordinal)
	before := runtime.NumCgoCall()
	imported := check(oneapi.CheckTensor(oneapi.TensorPointer(view), 0))
	crossings := runtime.NumCgoCall() - before
	memory := testing.AllocsPerRun(100, func() { check(oneapi.CheckTensor(oneapi.TensorPointer(view), 0)) })
	fmt.Println("import", imported == info, crossings, memory)
	stream := check(oneapi.DefaultStream(device))
	source := oneapi.TensorPointer(&(*dlpack.DLManagedTensorVersioned)(other).DLTensor)
	must(oneapi.Copy(oneapi.TensorPointer(view), source, stream))
	must(oneapi.KeepUntil(other, stream))
	must(oneapi.Deallocate(other))
	must(oneapi.StreamSynchronize(stream))
	m := check(dlpack.Import((*dlpack.DLManagedTensorVersioned)(tensor)))
	fmt.Println("imported", m.Tensor().Shape(), m.Tensor().Device().Type)
	m.Release()
	fmt.Println(oneapi.SetDeviceIDs(map[uintptr]int32{1: 1}) == nil, oneapi.USMTable() != nil)
}
