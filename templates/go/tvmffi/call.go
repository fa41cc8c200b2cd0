//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package tvmffi

// #include "call.h"
import "C"

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Func is a tvm-ffi function: of a [Library], or an object from [Global] or [NewFunc].
type Func struct {
	name     string
	function uintptr // the safe_call of tvm-ffi
	object   bool    // the owner has an object of tvm-ffi, not a library
	owner    *owner
}

// Symbol returns the address of the C function, a TVMFFISafeCallType.
func (f *Func) Symbol() uintptr { return f.function }

// Call calls the function. The arguments are borrowed until it returns. The caller owns the result:
// see [Value.Release].
//
// Errors: an [*Error] of the function; [ErrClosed] for a function or an argument that was closed or
// released; [ErrArgument] for an argument that cannot be passed.
func (f *Func) Call(args ...Value) (Value, error) {
	self, open := f.owner.get()
	if !open {
		return Value{}, failf(ErrClosed, "function %s", f.name)
	}
	if !f.object {
		self = 0
	}
	if len(args) > few {
		return f.callMany(self, args)
	}
	escape(args)
	reply := C.dlp_00000000_call_few(C.uintptr_t(f.function), C.uintptr_t(self),
		(*C.struct_dlp_00000000_value)(onStack(unsafe.Pointer(unsafe.SliceData(args)))), C.int32_t(len(args)))
	runtime.KeepAlive(unsafe.SliceData(args))
	if reply.index == isNone {
		return Value{}, nil
	}
	if reply.index < 0 && reply.size != 0 {
		return f.callMany(self, args)
	}
	return finish(reply)
}

const few = C.dlp_00000000_FEW

// The struct that C reads mirrors Value.
var _ = [1]struct{}{}[unsafe.Sizeof(Value{})-C.sizeof_struct_dlp_00000000_value+
	unsafe.Offsetof(Value{}.bits)-C.dlp_00000000_BITS]

// onStack returns p without making the compiler place the memory at p on the heap. C reads it
// before it calls anything, because a callback can move the stack.
func onStack(p unsafe.Pointer) unsafe.Pointer {
	number := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&number))
}

// escape makes the compiler place the memory that arguments point to on the heap: stacks move, and
// C has the addresses as numbers.
func escape(args []Value) {
	if never {
		for i := range args {
			escaped = args[i].ptr
		}
	}
}

var (
	never   bool
	escaped unsafe.Pointer
)

// frame is the memory of a call with many arguments, or with texts.
type frame struct {
	args   []packed
	text   []byte
	arrays []byteArray
}

// packed and byteArray mirror structs of C, with numbers for pointers.
type packed struct {
	index int32
	size  uint32
	bits  uint64
}

type byteArray struct{ data, size uintptr }

var frames = sync.Pool{New: func() any { return new(frame) }}

func (f *Func) callMany(self uintptr, args []Value) (Value, error) {
	m := frames.Get().(*frame)
	defer frames.Put(m)
	if err := m.fill(args); err != nil {
		return Value{}, err
	}
	escape(args)
	reply := C.dlp_00000000_call_many(C.uintptr_t(f.function), C.uintptr_t(self),
		(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(m.args))), C.int32_t(len(args)))
	runtime.KeepAlive(args)
	return finish(reply)
}

// fill packs the arguments. Memory for texts is allocated first, because their addresses are kept.
func (m *frame) fill(args []Value) error {
	texts, arrays := 0, 0
	for i := range args {
		switch args[i].index {
		case rawText:
			texts += int(args[i].bits) + 1
		case rawBytes:
			arrays++
		}
	}
	m.args, m.text, m.arrays = room(m.args, len(args)), room(m.text, texts), room(m.arrays, arrays)
	for i := range args {
		if err := m.add(i, &args[i]); err != nil {
			return err
		}
	}
	return nil
}

// room empties a slice, with room for n.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n)
	}
	return s[:0]
}

func (m *frame) add(i int, v *Value) error {
	if v.index == bareTensor && v.ptr != nil {
		v.fillStrides()
	}
	p := packed{index: v.index, bits: v.bits}
	switch {
	case v.index < 0:
		return failf(ErrArgument, "argument %d: %s", i+1, reasons[v.index])
	case v.index == rawText:
		text := v.text()
		if strings.IndexByte(text, 0) >= 0 {
			return failf(ErrArgument, "argument %d: expected a string without NUL", i+1)
		}
		p.bits = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.text[len(m.text):cap(m.text)]))))
		m.text = append(append(m.text, text...), 0)
	case v.index == rawBytes:
		m.arrays = append(m.arrays, byteArray{uintptr(v.ptr), uintptr(v.bits)})
		p.bits = uint64(uintptr(unsafe.Pointer(&m.arrays[len(m.arrays)-1])))
	case v.index >= firstObject && !v.alive():
		return failf(ErrClosed, "argument %d: the %s was released", i+1, v.Kind())
	}
	m.args = append(m.args, p)
	return nil
}

// finish converts the result of a call.
func finish(reply C.struct_dlp_00000000_reply) (Value, error) {
	if reply.index < 0 {
		return Value{}, raised(&reply)
	}
	return valueOf(result(&reply), true)
}

func result(reply *C.struct_dlp_00000000_reply) packed {
	return packed{int32(reply.index), uint32(reply.size), uint64(reply.bits)}
}
