// Command everyone contains functions over the types of package device, which all backends share:
// each function is compiled once.
package main

import (
	"errors"
	"fmt"

	"github.com/dlpackgen/dlpackgen/backends/cuda"
	"github.com/dlpackgen/dlpackgen/backends/device"
	"github.com/dlpackgen/dlpackgen/backends/oneapi"
	"github.com/dlpackgen/dlpackgen/backends/rocm"
	"github.com/dlpackgen/dlpackgen/backends/shm"
)

// tensor is a tensor of any backend: the managed tensor and its deallocation function.
type tensor struct {
	managed device.ManagedPointer
	free    func(device.ManagedPointer) error
}

// where finds the owner of an address, through a function of any backend.
func where(find func(uintptr) (device.Pointer, error)) (device.Device, error) {
	p, err := find(0)
	return p.Device, err
}

// drop frees a tensor, and prints the details of a failure.
func drop(name string, made tensor, err error) {
	var failure *device.Error
	if errors.As(err, &failure) {
		fmt.Println(name, failure.Code)
		return
	}
	if err := made.free(made.managed); err != nil {
		panic(err)
	}
	fmt.Println(name, "freed")
}

// wait orders two streams of any backend.
func wait(order func(consumer, producer device.Stream) error) error {
	return order(device.Stream{NoSync: true}, device.Stream{})
}

func main() {
	dtype := device.DataType{Code: 2, Bits: 32, Lanes: 1}
	for _, b := range []struct {
		name  string
		kind  int32
		alloc func(device.Allocation) (device.ManagedPointer, error)
		free  func(device.ManagedPointer) error
		find  func(uintptr) (device.Pointer, error)
		order func(consumer, producer device.Stream) error
	}{
		{"cuda", 2, cuda.Allocate, cuda.Deallocate, cuda.PointerAttributes, cuda.StreamWait},
		{"rocm", 10, rocm.Allocate, rocm.Deallocate, rocm.PointerAttributes, rocm.StreamWait},
		{"oneapi", 14, oneapi.Allocate, oneapi.Deallocate, oneapi.PointerAttributes, oneapi.StreamWait},
	} {
		managed, err := b.alloc(device.Allocation{Device: device.Device{Type: b.kind}, DType: dtype, Shape: []int64{2}})
		drop(b.name, tensor{managed, b.free}, err)
		_, _ = where(b.find)
		_ = wait(b.order)
	}
	managed, err := shm.Allocate(dtype, 2)
	drop("shm", tensor{managed, shm.Deallocate}, err)
	_, _ = where(shm.PointerAttributes)
}
