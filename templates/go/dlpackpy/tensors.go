//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include "python.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Tensor borrows the tensor of an argument until the function returns. It fails with a TypeError if
// the argument is not a tensor, and with a BufferError if its memory cannot be exported through
// DLPack.
func (c *Call) Tensor(i int) (dlpack.Tensor, error) {
	tensors, err := c.Tensors(i, 1)
	if err != nil {
		return dlpack.Tensor{}, err
	}
	return tensors[0], nil
}

// Tensors is [Call.Tensor] for several consecutive arguments. It is faster than separate calls.
func (c *Call) Tensors(first, count int) ([]dlpack.Tensor, error) {
	if err := c.has(first, count); err != nil {
		return nil, err
	}
	tensors := make([]dlpack.Tensor, count)
	if err := c.settled(c.read(first, tensors)); err != nil {
		return nil, err
	}
	return tensors, nil
}

// Import returns an owned tensor of an argument, which remains valid after the function has
// returned, until any goroutine releases it. The errors are those of Tensor.
func (c *Call) Import(i int) (*dlpack.Managed, error) {
	if err := c.has(i, 1); err != nil {
		return nil, err
	}
	managed, err := c.importNow(i)
	if err = c.settled(err); err != nil && managed != nil {
		managed.Release()
	}
	if err != nil {
		return nil, err
	}
	return managed, nil
}

func (c *Call) importNow(i int) (*dlpack.Managed, error) {
	if err := c.access(i, 1); err != nil {
		return nil, err
	}
	managed, err := c.own(i)
	if err != nil {
		return nil, err
	}
	return managed, c.settle(i, 0)
}

// Data is dlpack.Data of an argument: the elements of a contiguous tensor for reading, valid until
// the function returns.
func Data[T dlpack.Element](c *Call, i int) ([]T, error) {
	return data(c, i, dlpack.Data[T])
}

// WritableData is [Data] for writing.
func WritableData[T dlpack.Element](c *Call, i int) ([]T, error) {
	return data(c, i, dlpack.WritableData[T])
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

// number is the call's number in C: cgo would check a pointer for Go memory behind it.
func (c *Call) number() C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(c.c))) }

// access determines the access methods of arguments.
func (c *Call) access(first, count int) error {
	found := int(C.dlp_00000000_py_find_accesses(c.number(), C.intptr_t(first), C.intptr_t(count)))
	return c.checked(first+found, found < count)
}

// settle must be called after Python code may have run and before arguments are used. It fails if
// that code has changed the type of an argument, or the memory of a borrowed one.
func (c *Call) settle(first, count int) error {
	found := int(C.dlp_00000000_py_settle(c.number(), C.intptr_t(first), C.intptr_t(count)))
	return c.checked(first+found, found < count)
}

// settled returns the error of a method: its own, or the error that borrowed memory has changed.
// Raising and reading an exception may have run code.
func (c *Call) settled(err error) error {
	if err != nil && c.c.borrowed != 0 {
		C.dlp_00000000_py_recheck(c.number())
	}
	if c.c.changed != 0 {
		return c.changed()
	}
	return err
}

// changed returns the error of a call in which Python code has resized, freed or replaced a
// borrowed argument.
func (c *Call) changed() error {
	return c.about(int(c.c.changed)-1,
		&Exception{Type: "BufferError", Message: "its memory, shape or type changed while the arguments were read"})
}

// read first imports all arguments whose reading may run Python code, as owned tensors, and then
// borrows the others. If more code has run meanwhile, it borrows again.
func (c *Call) read(first int, out []dlpack.Tensor) error {
	if len(out) == 0 {
		return nil
	}
	if err := c.access(first, len(out)); err != nil {
		return err
	}
	for again := false; ; {
		ran, err := c.readOwned(first, out)
		if err == nil && (ran || again) {
			err = c.settle(first, len(out))
		}
		if err == nil {
			again, err = c.borrow(first, out)
		}
		if err != nil || !again {
			return err
		}
	}
}

// readOwned imports the tensors that cannot be borrowed, until the call ends.
func (c *Call) readOwned(first int, out []dlpack.Tensor) (ran bool, err error) {
	for i := range out {
		if c.c.accesses[first+i].quiet || out[i].Raw() != nil {
			continue
		}
		managed, err := c.own(first + i)
		if err != nil {
			return true, err
		}
		c.managed = append(c.managed, managed)
		out[i] = managed.Tensor()
		ran = true
	}
	return ran, nil
}

// borrow borrows tensors through tables that run no code. again means that some must be owned
// instead, or that queries may have run code.
func (c *Call) borrow(first int, out []dlpack.Tensor) (again bool, err error) {
	for i := 0; i < len(out); {
		found := 1
		if c.c.accesses[first+i].quiet {
			if found = c.borrowSome(first+i, out[i:]); found == 0 {
				return true, nil
			}
		}
		i += found
	}
	if again, err = c.isConjugated(first, out); again || err != nil {
		return again, err
	}
	for i, tensor := range out {
		c.watch(first+i, tensor)
	}
	return false, nil
}

// borrowSome borrows the first tensors of out that have the same table, and returns their number.
// With 0, they must be owned.
func (c *Call) borrowSome(first int, out []dlpack.Tensor) int {
	accesses := c.c.accesses[first : first+len(out)]
	api, ok := tableAt(uintptr(accesses[0].table))
	views := c.room(out)
	var objects [roomSize]uintptr
	count := 0
	for count < len(views) && accesses[count].quiet && accesses[count].table == accesses[0].table {
		objects[count] = uintptr(c.Object(first + count))
		count++
	}
	if !ok || api.Raw().DLTensorFromPyObjectNoSync == 0 || api.BorrowAll(views, objects[:count]...) != nil {
		C.dlp_00000000_py_clear()
		for i := range count {
			accesses[i].quiet = false
			out[i] = dlpack.Tensor{}
		}
		return 0
	}
	for i := range count {
		accesses[i].exported_by = C.uintptr_t(uintptr(unsafe.Pointer(api.Raw())))
		// these tables export no read-only tensors
		if out[i] = views[i].WritableTensor(); c.mustNotWrite(first + i) {
			out[i] = views[i].Tensor()
		}
	}
	return count
}

// isConjugated queries the borrowed tensors with complex elements.
func (c *Call) isConjugated(first int, out []dlpack.Tensor) (requested bool, err error) {
	for i, tensor := range out {
		access := &c.c.accesses[first+i]
		if bool(access.quiet && !access.requested) && c.mayConjugate(first+i, tensor) {
			if err := c.notConjugated(first + i); err != nil {
				return true, err
			}
			requested = true
		}
	}
	return requested, nil
}

// watch records borrowed tensors, which are compared after Python code has run.
func (c *Call) watch(i int, tensor dlpack.Tensor) {
	access := &c.c.accesses[i]
	if !access.quiet {
		return
	}
	access.borrowed = C.uintptr_t(uintptr(unsafe.Pointer(tensor.Raw())))
	c.c.borrowed |= 1 << i
}

// own imports an owned tensor, through the table of its type or through a capsule.
func (c *Call) own(i int) (*dlpack.Managed, error) {
	managed, err := c.importOwned(i)
	if err != nil {
		return nil, c.about(i, err)
	}
	if c.mayConjugate(i, managed.Tensor()) {
		if err := c.notConjugated(i); err != nil {
			managed.Release()
			return nil, err
		}
	}
	if c.mustNotWrite(i) {
		managed.SetReadOnly()
	}
	return managed, nil
}

func (c *Call) importOwned(i int) (*dlpack.Managed, error) {
	api, _ := tableAt(uintptr(c.c.accesses[i].table))
	imported := C.dlp_00000000_py_import(c.number(), C.intptr_t(i), C.uintptr_t(uintptr(unsafe.Pointer(api.Raw()))))
	switch {
	case imported.versioned != nil:
		return dlpack.Import((*dlpack.DLManagedTensorVersioned)(imported.versioned))
	case imported.legacy != nil:
		return dlpack.ImportLegacy((*dlpack.DLManagedTensor)(imported.legacy))
	}
	return nil, c.fetch()
}

func (c *Call) mayConjugate(i int, tensor dlpack.Tensor) bool {
	return bool(c.c.accesses[i].may_conjugate) && tensor.DataType().Code == dlpack.CodeComplex
}

// notConjugated rejects tensors whose values differ from those in memory.
func (c *Call) notConjugated(i int) error {
	return c.checked(i, !bool(C.dlp_00000000_py_not_conjugated(c.number(), C.intptr_t(i))))
}

// mustNotWrite reports whether the object forbids writing, independently of its tensor's flags.
func (c *Call) mustNotWrite(i int) bool {
	return c.c.accesses[i].flags&C.DLPACK_FLAG_BITMASK_READ_ONLY != 0
}

// tables are the validated exchange tables, by their addresses. Tables exist until the process
// ends, and there are few. Unusable tables are zero. Readers need no lock.
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
	api, err := dlpack.FindExchangeAPI((*dlpack.DLPackExchangeAPIHeader)(pointer(address)))
	all := []table{{address, api}}
	if old := tables.all.Load(); old != nil {
		all = append(all, *old...)
	}
	tables.all.Store(&all)
	return api, err == nil
}

// room is a cache of views, which are large and reused.
type room struct{ views [roomSize]dlpack.View }

const roomSize = 4

var rooms = sync.Pool{New: func() any { return new(room) }}

// room returns as many views as the cache has, and at most one for each tensor.
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
