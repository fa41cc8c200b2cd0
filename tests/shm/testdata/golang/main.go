// Command golang sends or receives a shared tensor over its standard input, a socket, with the Go
// package, and prints the results.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/backends/shm"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

var float32s = shm.DataType{Code: 2, Bits: 32, Lanes: 1}

func main() {
	if err := shm.Probe(); err != nil {
		var failure *shm.Error
		fmt.Println(err, errors.As(err, &failure) && failure.Code == 1)
		return
	}
	conn := check(net.FileConn(os.Stdin)).(*net.UnixConn)
	switch os.Args[1] {
	case "send":
		send(conn, len(os.Args) > 2)
	case "receive":
		receive(conn)
	case "deadline":
		must(conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
		_, err := shm.Receive(conn)
		fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
	case "flags":
		tensor := check(shm.Allocate(float32s, 3, 4))
		fmt.Println(shm.Send(conn, view(tensor), 2*shm.ReadOnly))
		must(shm.Deallocate(tensor))
	case "crossings":
		crossings()
	}
}

func check[T any](v T, err error) T {
	must(err)
	return v
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// view returns the DLTensor of a tensor.
func view(tensor shm.ManagedPointer) shm.TensorPointer {
	return shm.TensorPointer(&(*dlpack.DLManagedTensorVersioned)(tensor).DLTensor)
}

// elements returns the elements, in C memory.
func elements(tensor shm.ManagedPointer) []float32 {
	data := &(*dlpack.DLManagedTensorVersioned)(tensor).DLTensor.Data
	return unsafe.Slice(*(**float32)(unsafe.Pointer(data)), 12)
}

func send(conn *net.UnixConn, readOnly bool) {
	tensor := check(shm.Allocate(float32s, 3, 4))
	for i := range elements(tensor) {
		elements(tensor)[i] = float32(i)
	}
	var flags shm.SendFlags
	if readOnly {
		flags = shm.ReadOnly
	}
	must(shm.Send(conn, view(tensor), flags))
	must(shm.Deallocate(tensor))
	fmt.Println("sent")
}

func receive(conn *net.UnixConn) {
	tensor := check(shm.Receive(conn))
	m := check(dlpack.Import((*dlpack.DLManagedTensorVersioned)(tensor)))
	where := check(shm.PointerAttributes(m.Tensor().Addr()))
	sum := float32(0)
	for _, x := range elements(tensor) {
		sum += x
	}
	fmt.Println("received", m.Tensor().Shape(), where.Size, sum)
	m.Release()
}

// crossings measures the cost of each call.
func crossings() {
	fds := check(pair())
	tensor := check(shm.Allocate(float32s, 3, 4))
	calls := []struct {
		name string
		call func()
	}{
		{"Send and Receive", func() {
			must(shm.Send(fds[0], view(tensor), 0))
			must(shm.Deallocate(check(shm.Receive(fds[1]))))
		}},
		{"PointerAttributes", func() { check(shm.PointerAttributes(uintptr(tensor))) }},
		{"Copy", func() { must(shm.Copy(view(tensor), view(tensor))) }},
	}
	for _, c := range calls {
		c.call()
		before := runtime.NumCgoCall()
		c.call()
		fmt.Println(c.name, runtime.NumCgoCall()-before)
	}
	must(shm.Deallocate(tensor))
}
