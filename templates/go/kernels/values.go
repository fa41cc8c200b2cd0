//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package kernels

// #include "call.h"
import "C"

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	dlpack "dlpackgen.invalid/dlpack"
)

// Maybe is an argument that may be omitted or None. The zero Maybe is omitted.
type Maybe[T any] struct {
	value T
	state uint8
}

const (
	leftOut = iota
	given
	none
)

// Some returns a value.
func Some[T any](value T) Maybe[T] { return Maybe[T]{value, given} }

// None returns the value None, for arguments with a different default.
func None[T any]() Maybe[T] { return Maybe[T]{state: none} }

// or returns the value, or the default if it was omitted, and whether there is one.
func (m Maybe[T]) or(otherwise T, there bool) (T, C.bool) {
	if m.state == leftOut {
		return otherwise, C.bool(there)
	}
	return m.value, C.bool(m.state == given)
}

// must is like or, for an argument that cannot be None.
func (m Maybe[T]) must(s *site, what string, otherwise T) (T, error) {
	switch m.state {
	case leftOut:
		return otherwise, nil
	case none:
		return otherwise, s.fail("TypeError", "expected "+what+", got None")
	}
	return m.value, nil
}

// Number is a scalar whose dtype depends on the call. The zero Number is omitted.
type Number struct {
	integer int64
	real    float64
	kind    numberKind
}

type numberKind uint8

const (
	noNumber numberKind = iota
	signed
	unsigned
	float
	truth
)

// String returns the Python name of the kind.
func (k numberKind) String() string { return [...]string{"None", "int", "int", "float", "bool"}[k] }

// Int returns an integer, for every dtype that can represent it.
func Int(value int64) Number { return Number{value, float64(value), signed} }

// Uint returns an unsigned integer, for every dtype that can represent it.
func Uint(value uint64) Number { return Number{int64(value), float64(value), unsigned} }

// Float returns a number for float dtypes.
func Float(value float64) Number { return Number{0, value, float} }

// Bool returns a number for dtype bool.
func Bool(value bool) Number {
	if value {
		return Number{1, 1, truth}
	}
	return Number{0, 0, truth}
}

// Int returns an integer; 0 for a float.
func (n Number) Int() int64 { return n.integer }

// Uint returns an integer, converted to unsigned.
func (n Number) Uint() uint64 { return uint64(n.integer) }

// Float returns the number.
func (n Number) Float() float64 { return n.real }

// Bool reports whether the number is not 0.
func (n Number) Bool() bool { return n.real != 0 }

// String returns the number in digits.
func (n Number) String() string {
	switch n.kind {
	case signed:
		return strconv.FormatInt(n.integer, 10)
	case unsigned:
		return strconv.FormatUint(uint64(n.integer), 10)
	case float:
		return digits(n.real)
	case truth:
		return strconv.FormatBool(n.integer != 0)
	}
	return "none"
}

// negativeZero is a default that Go constants cannot represent.
var negativeZero = math.Copysign(0, -1)

// resultOf converts a scalar result.
func resultOf(n C.struct_dlp_00000000_kernel_number) Number {
	return Number{int64(n.integer), float64(n.real), numberKind(n.kind)}
}

// digits formats a float like Python.
func digits(v float64) string {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	case v != 0 && (math.Abs(v) < 1e-4 || math.Abs(v) >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// checked checks a number against the dtype of a tensor. If the tensor has none of the dtypes, the
// tensor's own check reports that.
func (n Number) checked(s *site, t dlpack.Tensor, types []dlpack.DataType) error {
	dtype := t.DataType()
	if n.kind == noNumber {
		return s.fail("TypeError", "it is missing")
	}
	if !slices.Contains(types, dtype) {
		return nil
	}
	return n.fits(s, dtype)
}

func (n Number) fits(s *site, dtype dlpack.DataType) error {
	kind := numbersOf(dtype.Code)
	isReal := kind == float
	switch {
	case isReal && n.kind == float:
		return fitsFloat(s, dtype, n.real)
	case isReal && representsFloat(dtype, n.real):
		return nil
	case !isReal && (n.kind == float || (n.kind == truth && kind != truth)):
		return s.fail("TypeError", fmt.Sprintf("expected %v, got %s", dtype, n.kind))
	case isReal || !n.within(dtype):
		return s.fail("OverflowError", fmt.Sprintf("%v cannot represent %v", dtype, n))
	}
	return nil
}

// within reports whether an integer dtype, or bool, can represent the number.
func (n Number) within(dtype dlpack.DataType) bool {
	negative := n.kind == signed && n.integer < 0
	switch kind := numbersOf(dtype.Code); {
	case kind == truth:
		return uint64(n.integer) <= 1
	case kind == unsigned:
		return !negative && (dtype.Bits == 64 || uint64(n.integer)>>dtype.Bits == 0)
	case negative:
		return n.integer >= -1<<(dtype.Bits-1)
	}
	return uint64(n.integer)>>(dtype.Bits-1) == 0
}

// fitsFloat checks a float against the largest number of its dtype.
func fitsFloat(s *site, dtype dlpack.DataType, value float64) error {
	if representsFloat(dtype, value) {
		return nil
	}
	return s.fail("OverflowError", fmt.Sprintf("%v cannot represent %s", dtype, digits(value)))
}

func representsFloat(dtype dlpack.DataType, value float64) bool {
	largest := math.MaxFloat64
	switch {
	case dtype.Code == dlpack.CodeBFloat:
		largest = 0x1.fep127
	case dtype.Bits == 16:
		largest = 65504
	case dtype.Bits == 32:
		largest = math.MaxFloat32
	}
	return math.IsInf(value, 0) || math.IsNaN(value) || math.Abs(value) <= largest
}

// textOf returns the bytes of a text, which has no terminating NUL.
func textOf(text string) *C.char {
	if text == "" {
		text = noText
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}

// noText has an address, unlike an empty text.
var noText = "none"

// checkText rejects a NUL, which would end the text in C.
func checkText(s *site, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return s.fail("ValueError", "expected a string without NUL")
	}
	return nil
}

// itemsOf returns the items of a list: NULL for nil.
func itemsOf[T int64 | float64](list []T) *C.uint64_t {
	return pointerOf(unsafe.Pointer(unsafe.SliceData(list)))
}

// take imports a tensor that a call created. It is valid, so the import cannot fail.
func take(made unsafe.Pointer) *dlpack.Managed {
	managed, err := dlpack.Import((*dlpack.DLManagedTensorVersioned)(made))
	if err != nil {
		panic("unreachable: the package makes valid tensors: " + err.Error())
	}
	return managed
}
