//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"fmt"
	"runtime"
	"structs"
	"sync"
	"unsafe"
)

// View holds a view of an object, which [ExchangeAPI.Borrow] fills. It needs more than a kilobyte,
// for the shape and the strides, and is on the heap. If you reuse Views, calls do not allocate. A
// View must not be copied, and only one goroutine may use it at a time.
type View struct {
	_      structs.HostLayout
	_      [0]sync.Mutex // vet complains about copies
	object uintptr       // 0 if the View is empty
	owner  uintptr       // the managed tensor if the table cannot lend, or 0
	stream uintptr
	flags  Flags
	tensor DLTensor // shape and strides are in dims
	dims   [2 * MaxNDim]int64
}

// Borrow fills a View of an object. The view is valid until control returns to the producer, for
// example to Python, or until the View is released or reused. The shape and the strides are copies,
// validated as by [Import], so changes by other threads do not affect them.
//
// A borrowed tensor has no flags, and counts as read-only. See [View.WritableTensor]. If the table
// has no function for borrowing, the View owns a tensor with flags instead, until it is released or
// reused.
//
// On error, the View is empty. Errors: a [*CallError] of the table, [ErrArgument], and those of
// [Import].
func (a ExchangeAPI) Borrow(dst *View, object uintptr) error {
	if dst == nil {
		return failf(ErrArgument, "no View to fill: it is nil")
	}
	return a.BorrowAll(unsafe.Slice(dst, 1), object)
}

// BorrowAll is [ExchangeAPI.Borrow] for several objects and as many Views, with one crossing into
// C. On error, all of dst are empty.
//
// A table that runs other code to borrow a tensor, such as Python code, can change objects that
// were borrowed before. If a tensor must stay valid, use [ExchangeAPI.FromPyObject].
func (a ExchangeAPI) BorrowAll(dst []View, objects ...uintptr) error {
	if a.table == nil {
		return empty(dst, errNoTable())
	}
	if len(dst) < len(objects) {
		return empty(dst, failf(ErrArgument, "%d objects for %d views", len(objects), len(dst)))
	}
	for i, object := range objects {
		if object == 0 {
			return empty(dst, failf(ErrArgument, "no object: address %d is 0", i))
		}
		dst[i].object = object
	}
	if len(objects) == 0 {
		return nil
	}
	f := a.borrow(&dst[0], len(objects))
	runtime.KeepAlive(dst)
	if f != nil {
		i := int(f.index)
		return releaseViews(dst, i, len(objects), failureOf(f))
	}
	for i := range objects {
		if plain(&dst[i].tensor) {
			continue
		}
		nullStrides := a.version(&dst[i]).Minor < nullStridesBefore
		if err := validate(Tensor{&dst[i].tensor, dst[i].flags}, nullStrides); err != nil {
			return releaseViews(dst, i, len(objects), err)
		}
	}
	return nil
}

// version is the release whose rules apply to a view: the release of its tensor, or of the
// table that provided it.
func (a ExchangeAPI) version(v *View) Version {
	if v.owner != 0 {
		return (*DLManagedTensorVersioned)(loadPtr(&v.owner)).Version
	}
	return a.table.Header.Version
}

// empty ends all views after a failure, and returns the error.
func empty(views []View, err error) error {
	for i := range views {
		views[i].Release()
	}
	return err
}

// releaseViews empties all views after a failure, and adds the index of the object to the error.
func releaseViews(views []View, i, objects int, err error) error {
	deleteOwned(&views[0], len(views))
	for j := range views {
		views[j].object = 0
	}
	if objects > 1 {
		return fmt.Errorf("object %d: %w", i, err)
	}
	return err
}

// Tensor returns the view for reading; the zero Tensor if the View is empty.
func (v *View) Tensor() Tensor {
	if v.object == 0 {
		return Tensor{}
	}
	return Tensor{&v.tensor, v.flags}
}

// WritableTensor is [View.Tensor] for a caller that knows that the memory of a borrowed tensor is
// writable, which the tensor cannot declare. It does not affect a tensor that the View owns, which
// has flags.
func (v *View) WritableTensor() Tensor {
	t := v.Tensor()
	if v.owner == 0 {
		t.flags &^= FlagReadOnly
	}
	return t
}

// Stream returns the producer's current stream on the device of the tensor.
func (v *View) Stream() Stream {
	if v.object == 0 {
		return 0
	}
	return Stream(v.stream)
}

// Release ends the view. It calls into C only if the View owns a tensor, but may be called for
// every View; further calls do nothing.
func (v *View) Release() {
	v.object = 0
	if v.owner != 0 {
		deleteOwned(v, 1)
	}
}
