//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include "python.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Tensor borrows a tensor from an argument until the function returns. It fails
// with a TypeError where the argument is no tensor, and with a BufferError where
// its memory cannot be had as a tensor of DLPack.
func (c *Call) Tensor(i int) (dlpack.Tensor, error) {
	tensors, err := c.Tensors(i, 1)
	if err != nil {
		return dlpack.Tensor{}, err
	}
	return tensors[0], nil
}

// Tensors is [Call.Tensor] of several arguments, one after the other, which takes
// less time than to ask for each.
func (c *Call) Tensors(first, count int) ([]dlpack.Tensor, error) {
	if err := c.route(first, count); err != nil {
		return nil, err
	}
	tensors := make([]dlpack.Tensor, count)
	for done := 0; done < count; {
		taken, err := c.take(first+done, tensors[done:])
		if err != nil {
			return nil, err
		}
		done += taken
	}
	return tensors, nil
}

// Import takes a tensor from an argument for good: it stays after the function
// has returned, until it is released, by any goroutine. It fails like Tensor.
func (c *Call) Import(i int) (*dlpack.Managed, error) {
	if err := c.route(i, 1); err != nil {
		return nil, err
	}
	return c.own(i)
}

// Data is dlpack.Data of an argument: the elements of a dense tensor, to be read
// until the function returns.
func Data[T dlpack.Element](c *Call, i int) ([]T, error) {
	return data(c, i, dlpack.Data[T])
}

// MutableData is [Data] for writing.
func MutableData[T dlpack.Element](c *Call, i int) ([]T, error) {
	return data(c, i, dlpack.MutableData[T])
}

func data[T dlpack.Element](c *Call, i int, read func(dlpack.Tensor) ([]T, error)) ([]T, error) {
	tensor, err := c.Tensor(i)
	if err != nil {
		return nil, err
	}
	values, err := read(tensor)
	if err != nil {
		return nil, c.about(i, err)
	}
	return values, nil
}

// route finds out how to take tensors out of arguments.
func (c *Call) route(first, count int) error {
	if err := c.has(first, count); err != nil || count == 0 {
		return err
	}
	found := int(C.dlp_00000000_py_find_routes(C.uintptr_t(uintptr(unsafe.Pointer(c.c))), C.intptr_t(first), C.intptr_t(count)))
	return c.checked(first+found, found < count)
}

// take borrows the first tensors of out, by the table of their type if they have
// one, and tells how many.
func (c *Call) take(first int, out []dlpack.Tensor) (taken int, err error) {
	table := c.c.routes[first].table
	api, ok := tableAt(uintptr(table))
	if !ok {
		return 1, c.takeOwned(first, out)
	}
	views := c.room(out)
	var objects [roomSize]uintptr
	for taken < len(views) && c.c.routes[first+taken].table == table {
		objects[taken] = uintptr(c.Object(first + taken))
		taken++
	}
	if err := api.BorrowAll(views, objects[:taken]...); err != nil {
		// A table cannot lend what its tensors alone can say, such as flags.
		C.dlp_00000000_py_clear()
		return 1, c.takeOwned(first, out)
	}
	for i := range taken {
		tensor, err := c.admit(first+i, views[i].Tensor())
		if err != nil {
			return 0, err
		}
		out[i] = tensor
	}
	return taken, nil
}

// takeOwned takes a tensor for the time of the call.
func (c *Call) takeOwned(i int, out []dlpack.Tensor) error {
	managed, err := c.own(i)
	if err != nil {
		return err
	}
	c.managed = append(c.managed, managed)
	out[0] = managed.Tensor()
	return nil
}

// own takes a tensor, by the table of its type or by its capsule.
func (c *Call) own(i int) (*dlpack.Managed, error) {
	managed, err := c.ownBy(i)
	if err != nil {
		return nil, c.about(i, err)
	}
	tensor, err := c.admit(i, managed.Tensor())
	if err != nil {
		managed.Release()
		return nil, err
	}
	if tensor.ReadOnly() {
		managed.ForbidWriting()
	}
	return managed, nil
}

func (c *Call) ownBy(i int) (*dlpack.Managed, error) {
	if api, ok := tableAt(uintptr(c.c.routes[i].table)); ok {
		managed := new(dlpack.Managed)
		if err := api.Managed(managed, uintptr(c.Object(i))); err != nil {
			return nil, c.because(err)
		}
		return managed, nil
	}
	capsule := C.dlp_00000000_py_take(c.address(i))
	switch {
	case capsule.versioned != nil:
		return dlpack.Import((*dlpack.DLManagedTensorVersioned)(capsule.versioned))
	case capsule.legacy != nil:
		managed, err := dlpack.ImportLegacy((*dlpack.DLManagedTensor)(capsule.legacy))
		if err == nil {
			managed.ForbidWriting() // whether it may be written is unknown
		}
		return managed, err
	}
	return nil, c.fetch()
}

// because gives the exception that a table has left pending, else its error.
func (c *Call) because(err error) error {
	if C.dlp_00000000_py_pending() {
		return c.fetch()
	}
	return err
}

// admit adds what the object asks for, and refuses values that are not what
// stands in memory.
func (c *Call) admit(i int, tensor dlpack.Tensor) (dlpack.Tensor, error) {
	route := &c.c.routes[i]
	if route.may_conjugate && tensor.DataType().Code == dlpack.CodeComplex && !C.dlp_00000000_py_not_conjugated(c.address(i)) {
		return dlpack.Tensor{}, c.checked(i, true)
	}
	if route.flags&C.DLPACK_FLAG_BITMASK_READ_ONLY != 0 {
		return tensor.AsReadOnly(), nil
	}
	return tensor, nil
}

// tables are the exchange tables that were tested, by their addresses: tables
// live as long as the process, and there are few. Those that cannot be used are
// zero. Readers take no lock.
var tables struct {
	adding sync.Mutex
	all    atomic.Pointer[[]table]
}

type table struct {
	address uintptr
	api     dlpack.ExchangeAPI
}

func tableAt(address uintptr) (api dlpack.ExchangeAPI, usable bool) {
	if address == 0 {
		return api, false
	}
	if all := tables.all.Load(); all != nil {
		for _, t := range *all {
			if t.address == address {
				return t.api, t.api.Raw() != nil
			}
		}
	}
	return addTable(address)
}

func addTable(address uintptr) (api dlpack.ExchangeAPI, usable bool) {
	tables.adding.Lock()
	defer tables.adding.Unlock()
	api, err := dlpack.OpenExchangeAPI((*dlpack.DLPackExchangeAPIHeader)(pointer(address)))
	all := []table{{address, api}}
	if old := tables.all.Load(); old != nil {
		all = append(all, *old...)
	}
	tables.all.Store(&all)
	return api, err == nil
}

// room is space for views, which are large and used again.
type room struct{ views [roomSize]dlpack.View }

const roomSize = 4

var rooms = sync.Pool{New: func() any { return new(room) }}

// room gives space for as many views as it has, and as there are tensors.
func (c *Call) room(tensors []dlpack.Tensor) []dlpack.View {
	r := rooms.Get().(*room)
	c.rooms = append(c.rooms, r)
	return r.views[:min(roomSize, len(tensors))]
}

func (r *room) release() {
	for i := range r.views {
		r.views[i].Release()
	}
	rooms.Put(r)
}
