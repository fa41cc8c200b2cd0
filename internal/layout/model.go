package layout

import (
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Model is a C data model: the numbers that determine the layout of DLPack, in bytes.
type Model struct {
	Name        string
	Doc         string
	Pointer     int  // size and alignment of every pointer
	Int64Align  int  // alignment of a 64-bit integer inside a struct
	Long        int  // size of long, hence of a literal with the suffix UL
	ShortEnums  bool // an enum without a fixed type has the smallest type that can represent its values
	SignedEnums bool // an enum without a fixed type is always int, as MSVC has it
}

// The data models. Win32 is not in Models, because it differs from ILP32 only in the signedness of
// enums.
var (
	LP64  = Model{Name: "lp64", Doc: "64-bit Linux, macOS and the BSDs", Pointer: 8, Int64Align: 8, Long: 8}
	LLP64 = Model{Name: "llp64", Doc: "64-bit Windows", Pointer: 8, Int64Align: 8, Long: 4, SignedEnums: true}
	I386  = Model{Name: "i386", Doc: "32-bit x86, System V: 64-bit integers are aligned to 4", Pointer: 4,
		Int64Align: 4, Long: 4}
	ILP32      = Model{Name: "ilp32", Doc: "arm, wasm32, x32 and 32-bit Windows", Pointer: 4, Int64Align: 8, Long: 4}
	ShortEnums = Model{Name: "short-enums", Doc: "bare-metal arm: ilp32 with -fshort-enums", Pointer: 4,
		Int64Align: 8, Long: 4, ShortEnums: true}
	Win32 = Model{Name: "win32", Doc: "32-bit Windows: ilp32 with signed enums", Pointer: 4, Int64Align: 8,
		Long: 4, SignedEnums: true}
)

// Models returns the columns of an ABI table, in order.
func Models() []Model {
	return []Model{LP64, LLP64, I386, ILP32, ShortEnums}
}

// scalar returns the size and signedness of a builtin type. void and other names have size 0.
func (m Model) scalar(name string) (x extent, signed bool) {
	switch name {
	case "char", "int8":
		return extent{1, 1}, true
	case "uint8":
		return extent{1, 1}, false
	case "int16":
		return extent{2, 2}, true
	case "uint16":
		return extent{2, 2}, false
	case "int", "int32":
		return extent{4, 4}, true
	case "uint32":
		return extent{4, 4}, false
	case "int64":
		return extent{8, m.Int64Align}, true
	case "uint64":
		return extent{8, m.Int64Align}, false
	}
	return nothing, false
}

// enum returns the size and signedness of an enum without a fixed underlying type. GCC and Clang
// use an unsigned type unless a value is negative, and a type wider than int only if a value needs
// it.
func (m Model) enum(e *spec.Enum) (x extent, signed bool) {
	if m.SignedEnums {
		return extent{4, 4}, true
	}
	low, high := bounds(e)
	size := 4
	if m.ShortEnums {
		size = 1
	}
	for size < 8 && !holds(size, low, high) {
		size *= 2
	}
	if size == 8 {
		return extent{8, m.Int64Align}, low < 0
	}
	return extent{size, size}, low < 0
}

// bounds returns the lowest and highest value, where 0 counts as a value.
func bounds(e *spec.Enum) (low, high int64) {
	for _, v := range e.Values {
		low, high = min(low, v.Value), max(high, v.Value)
	}
	return low, high
}

// holds reports whether an integer of the given number of bytes, less than 8, can represent all
// values from low to high. It is signed only if low is negative.
func holds(size int, low, high int64) bool {
	bits := uint(size) * 8
	if low < 0 {
		return low >= -1<<(bits-1) && high < 1<<(bits-1)
	}
	return high < 1<<bits
}
