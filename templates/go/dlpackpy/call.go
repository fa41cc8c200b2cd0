//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpackpy

// #include "python.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Object is the address of a Python object, whose contents are private to Python.
type Object uintptr

// Call is one call of a function from Python: its arguments, and the Python resources that it uses,
// which are released when the function returns. Afterwards, all methods fail.
type Call struct {
	c        *C.struct_dlp_00000000_py_call // nil after the end
	function *Function
	unlocked bool // without the GIL

	rooms   []*room           // of borrowed tensors
	managed []*dlpack.Managed // of tensors that could not be borrowed
	raised  []Object          // by Python, and converted to errors
}

// Len returns the number of arguments.
func (c *Call) Len() int {
	if c.c == nil {
		return 0
	}
	return int(c.c.count)
}

// Object returns an argument unconverted, or 0 if it was omitted. The reference is borrowed, and
// valid until the function returns.
func (c *Call) Object(i int) Object {
	if i < 0 || i >= c.Len() {
		return 0
	}
	return Object(unsafe.Pointer(unsafe.Slice(c.c.arguments, c.c.count)[i]))
}

// Int returns an integer argument.
func (c *Call) Int(i int) (int64, error) {
	if err := c.has(i, 1); err != nil {
		return 0, err
	}
	number := C.dlp_00000000_py_to_int(c.number(), C.intptr_t(i))
	return int64(number.value), c.settled(c.checked(i, bool(number.failed)))
}

// Float returns a numeric argument.
func (c *Call) Float(i int) (float64, error) {
	if err := c.has(i, 1); err != nil {
		return 0, err
	}
	number := C.dlp_00000000_py_to_float(c.number(), C.intptr_t(i))
	return float64(number.value), c.settled(c.checked(i, bool(number.failed)))
}

// String returns a string argument.
func (c *Call) String(i int) (string, error) {
	if err := c.has(i, 1); err != nil {
		return "", err
	}
	text := C.dlp_00000000_py_to_text(c.address(i))
	if text.bytes == nil {
		return "", c.settled(c.checked(i, true))
	}
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text.bytes)), text.size)), nil
}

// WithoutGIL calls a function with the GIL released. The function must not call methods of the
// Call, but may use its tensors. Other threads may then write to the memory of the tensors, or free
// it by resizing. If the GIL is already released, and after the end of the Call, WithoutGIL only
// calls the function.
func (c *Call) WithoutGIL(work func()) {
	if c.c == nil || c.unlocked {
		work()
		return
	}
	c.unlocked = true
	state := C.dlp_00000000_py_unlock()
	defer func() {
		C.dlp_00000000_py_lock(state)
		c.unlocked = false
	}()
	work()
}

func (c *Call) address(i int) C.uintptr_t { return C.uintptr_t(c.Object(i)) }

// has returns an exception if there are fewer arguments.
func (c *Call) has(first, count int) error {
	switch {
	case c.c == nil:
		return &Exception{Type: "RuntimeError", Message: "the call of this function has ended"}
	case c.unlocked:
		return &Exception{Type: "RuntimeError", Message: "a Call was used inside of WithoutGIL"}
	case c.c.changed != 0:
		return c.changed()
	case first < 0 || count < 0 || count > c.Len()-first:
		return &Exception{Type: "TypeError",
			Message: fmt.Sprintf("%s() takes %d arguments, got %d", c.function.Name,
				uint(first)+uint(count), c.Len())}
	}
	return nil
}

// checked fetches the exception of a failed operation on an argument.
func (c *Call) checked(i int, failed bool) error {
	if !failed {
		return nil
	}
	return c.about(i, c.fetch())
}

// about adds the function and the argument to an error.
func (c *Call) about(i int, err error) error {
	if i < len(c.function.Params) {
		name, _, _ := strings.Cut(c.function.Params[i], "=")
		return fmt.Errorf("%s(): argument '%s' (%s): %w", c.function.Name, name, ordinal(i+1), err)
	}
	return fmt.Errorf("%s(): argument %d: %w", c.function.Name, i+1, err)
}

// ordinal returns "2nd" for 2.
func ordinal(number int) string {
	ending := "th"
	if last := number % 10; last < 4 && number/10%10 != 1 {
		ending = []string{"th", "st", "nd", "rd"}[last]
	}
	return fmt.Sprint(number, ending)
}

//export dlp_00000000_py_run
func dlp_00000000_py_run(address *C.struct_dlp_00000000_py_call) C.uintptr_t {
	c := &Call{c: address, function: functionOf(address.function)}
	result, err := c.run()
	c.release()
	if err != nil {
		raise(err)
	}
	c.end()
	return C.uintptr_t(result)
}

// run returns a new reference to the result of the function. No panic may reach C.
func (c *Call) run() (result Object, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &Exception{Type: "RuntimeError", Message: fmt.Sprintf("%s() panicked: %v", c.function.Name, cause)}
		}
	}()
	if err := c.function.accepts(c.Len()); err != nil {
		return 0, err
	}
	value, err := c.function.Call(c)
	if c.c.changed != 0 {
		err = c.changed() // even if the function continued after an error
	}
	if err != nil {
		discard(value)
		return 0, err
	}
	return c.object(value)
}

// release releases the tensors. It is called before an exception is set, because deleters may run
// Python code.
func (c *Call) release() {
	for _, r := range c.rooms {
		r.release()
	}
	for _, m := range c.managed {
		m.Release()
	}
}

// end releases the exceptions that Python raised.
func (c *Call) end() {
	for _, o := range c.raised {
		C.dlp_00000000_py_drop(C.uintptr_t(o))
	}
	c.c = nil
}

// object returns a new reference to the Python object for a result.
func (c *Call) object(value any) (Object, error) {
	var made C.uintptr_t
	switch v := value.(type) {
	case nil:
		made = C.dlp_00000000_py_none()
	case bool:
		made = C.dlp_00000000_py_from_bool(C.bool(v))
	case int:
		made = C.dlp_00000000_py_from_int(C.int64_t(v))
	case int64:
		made = C.dlp_00000000_py_from_int(C.int64_t(v))
	case float64:
		made = C.dlp_00000000_py_from_float(C.double(v))
	case string:
		text := strings.ToValidUTF8(v, "\uFFFD")
		made = C.dlp_00000000_py_from_text((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.intptr_t(len(text)))
	case Object:
		made = C.dlp_00000000_py_same(C.uintptr_t(v))
	case []any:
		return c.tuple(v)
	case *dlpack.Managed:
		return c.give(v)
	case *dlpack.DLManagedTensorVersioned:
		m, err := dlpack.Import(v)
		if err != nil {
			return 0, err
		}
		return c.give(m)
	default:
		return 0, &Exception{Type: "TypeError",
			Message: fmt.Sprintf("%s() returned a %T, which has no Python equivalent", c.function.Name, value)}
	}
	return c.made(made)
}

// made returns an object that Python created, or the exception that it raised instead.
func (c *Call) made(object C.uintptr_t) (Object, error) {
	if object == 0 {
		return 0, c.fetch()
	}
	return Object(object), nil
}

func (c *Call) tuple(values []any) (Object, error) {
	tuple, err := c.made(C.dlp_00000000_py_new_tuple(C.intptr_t(len(values))))
	if err != nil {
		return 0, err
	}
	for i, value := range values {
		element, err := c.object(value)
		if err != nil {
			C.dlp_00000000_py_drop(C.uintptr_t(tuple))
			discard(values[i+1:])
			return 0, err
		}
		C.dlp_00000000_py_put(C.uintptr_t(tuple), C.intptr_t(i), C.uintptr_t(element))
	}
	return tuple, nil
}

// discard releases the tensors of a result that is dropped.
func discard(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			discard(element)
		}
	case *dlpack.Managed:
		if v != nil {
			v.Release()
		}
	case *dlpack.DLManagedTensorVersioned:
		if m, err := dlpack.Import(v); err == nil {
			m.Release()
		}
	}
}

func (c *Call) give(m *dlpack.Managed) (Object, error) {
	flags := m.Tensor().Flags()
	object, err := dlpack.NewObject(m)
	if err != nil {
		return 0, err
	}
	return c.made(C.dlp_00000000_py_export(C.uintptr_t(object), C.uint64_t(flags)))
}
