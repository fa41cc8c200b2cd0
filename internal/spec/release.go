package spec

import (
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Release is one resolved release of DLPack: every history in the spec has been applied, so names,
// types and rules are those of this release.
type Release struct {
	Version    string // "0.1" ... "1.3", or "main"
	Major      int    // of the newest release that is not newer, for "main"
	Minor      int
	Unreleased bool
	SpecSHA256 string // of the spec's bytes, line ends normalised
	Decls      []Decl // in declaration order
	DTypes     []DType
	Elements   Elements
	Limits     Limits
	Codes      []CodeRule // of the type codes of all releases, which never change their meaning
	Streams    []StreamTable
	Python     Python
	// NewestPython are the names of the newest release. Consumers of any release use them, because
	// producers may be of that one.
	NewestPython Python

	index *index // of Decls
}

// Decl is one declaration: *Linkage, *Macro, *Flag, *Enum, *Struct, *Alias or
// *Callback.
type Decl interface {
	DeclName() string
}

// Linkage is a macro that decorates declarations rather than naming a value.
type Linkage struct {
	Name    string
	Doc     string
	Kind    LinkageKind
	Exports string // the macro that selects dllexport; only for LinkageDLL
}

// LinkageKind is the expansion of a linkage macro.
type LinkageKind string

// The linkage kinds.
const (
	LinkageExternC LinkageKind = "extern_c"
	LinkageDLL     LinkageKind = "dll"
)

// Macro is a number with the exact literal in the header.
type Macro struct {
	Name    string
	Doc     string
	Literal string // as in C: "050" is 40
	Value   int64
}

// Flag is one bit of DLManagedTensorVersioned.flags.
type Flag struct {
	Name string
	Doc  string
	Bit  uint
}

// Value returns the mask.
func (f *Flag) Value() uint64 { return 1 << f.Bit }

// Enum is an enumeration. In C it has no fixed underlying type; in C++ it has
// one when CxxUnderlying is set.
type Enum struct {
	Name          string
	Doc           string
	Wire          string // builtin type in which bindings carry a value
	CxxUnderlying string // builtin type, or "" for an unfixed enum
	Unsigned      bool   // literals carry the suffix U
	Values        []EnumValue
}

// EnumValue is one enumerator.
type EnumValue struct {
	Name    string
	Value   int64
	Doc     string
	Device  *DeviceRule  // only on device types
	Element *ElementRule // only on type codes
}

// DeviceRule contains the properties of a device type that bindings need.
type DeviceRule struct {
	HostReadable bool   // the host may dereference DLTensor.data
	Opaque       bool   // data is a handle: no pointer arithmetic
	IDZero       bool   // device_id is always 0
	Streams      string // name of a StreamTable, or "" when only None is allowed
	Memory       string // MemoryHost, MemoryPinned, MemoryManaged, or "" for a device's own
	Of           string // the device type whose runtime allocates pinned and managed memory
	Torch        TorchDevice
}

// TorchDevice is PyTorch's device type. An empty key means that PyTorch lacks the type.
type TorchDevice struct {
	Key   string // the dispatch key, which is also its name in c10::DeviceType
	Build string // TorchROCm if the key means this device type only in that build of PyTorch
}

// TorchROCm is PyTorch for ROCm, which names its devices CUDA.
const TorchROCm = "rocm"

// The kinds of memory of a device type.
const (
	MemoryHost    = "host"
	MemoryPinned  = "pinned"
	MemoryManaged = "managed"
)

// OnHost reports whether the memory is host memory, which needs no stream order. Managed memory
// does, because a device may be using it.
func (d *DeviceRule) OnHost() bool {
	return d != nil && (d.Memory == MemoryHost || d.Memory == MemoryPinned)
}

// ElementRule contains the properties of the elements of a type code.
type ElementRule struct {
	Bits   int    // the only width; 0 if data types have different widths
	Part   string // the type code of both halves of an element, or ""
	Native string // the kind of number that languages have for it, or ""
}

// The kinds of numbers that languages have.
const (
	NativeInt   = "int"
	NativeUint  = "uint"
	NativeFloat = "float"
	NativeBool  = "bool"
)

// CodeRule is the rule of a type code, which may be one of a later release.
type CodeRule struct {
	Name  string // as the newest release has it
	Value int64
	ElementRule
}

// Parts returns the number of numbers in an element.
func (c CodeRule) Parts() int {
	if c.Part == "" {
		return 1
	}
	return 2
}

// Elements is the storage of elements in memory, independent of their type code.
type Elements struct {
	PackedBelow   int    // lanes of fewer bits are packed, all others rounded up to whole bytes
	PaddedBy      string // the flag of tensors that have the narrower ones rounded up as well
	Alignments    []int  // the sizes of lanes, in bytes, that are aligned to their size
	DataAlignment int    // of data that producers allocate, in bytes
}

// Limits bound loops over data of others. They are 0 if the spec lacks them.
type Limits struct {
	NDim          int // the largest ndim of a valid tensor
	ExchangeChain int // how many exchange tables are visited
}

// Struct is a structure, laid out in field order by the rules of C.
type Struct struct {
	Name    string
	Doc     string
	Tag     bool // declared with the tag `struct Name`
	Typedef bool // declared with the typedef name; false: C must write `struct Name`
	Fields  []Field
}

// Field is one member of a struct.
type Field struct {
	Name  string
	Doc   string
	Type  Type
	Null  Null   // only on pointers and callbacks
	Owner string // frees what a pointer points to; "" for none
	// NullBefore is the minor version below which producers may leave it NULL all the same.
	NullBefore int
}

// Null is the rule for when a pointer may be NULL.
type Null string

// The rules for NULL.
const (
	NullNever   Null = "never"
	NullAllowed Null = "allowed"
	NullEmpty   Null = "empty"  // when the tensor has no elements
	NullScalar  Null = "scalar" // when ndim is 0
)

// Alias is an alias of a type.
type Alias struct {
	Name   string
	Doc    string
	Target string
}

// Callback is a named function-pointer type.
type Callback struct {
	Name string
	Doc  string
	Func Func
}

// Func is the signature of a function pointer.
type Func struct {
	Returns Type
	Params  []Param
}

// Param is one parameter.
type Param struct {
	Name string
	Type Type
}

// DType is a named element type, such as float32.
type DType struct {
	Name   string
	Code   string // enumerator of DLDataTypeCode
	Native string // of the code's rule: the kind of number
	Bits   int
	Lanes  int
	Doc    string
	Torch  TorchType
}

// IsInteger reports whether the elements are integers, of either sign.
func (d DType) IsInteger() bool { return d.Native == NativeInt || d.Native == NativeUint }

// IsSigned reports whether the elements are signed integers.
func (d DType) IsSigned() bool { return d.Native == NativeInt }

// IsBool reports whether the elements are truth values.
func (d DType) IsBool() bool { return d.Native == NativeBool }

// TorchType is PyTorch's type for elements. Its name is "" if there is none.
type TorchType struct {
	Type  string // in c10::ScalarType
	Lanes int    // elements in one of PyTorch's
}

// StreamTable is the meaning of the integers in the stream argument of __dlpack__, for a kind of
// device.
type StreamTable struct {
	Name   string
	Doc    string
	Values []StreamValue
	Handle bool // larger integers are native stream handles
}

// Meanings of stream numbers that code distinguishes.
const (
	MeaningPerThread = "per_thread_default"
	MeaningRejected  = "rejected"
)

// StreamValue is one special stream number.
type StreamValue struct {
	Value   int64
	Meaning string // "no_sync", "legacy_default", MeaningPerThread, "default", MeaningRejected
}

// Default returns the number of the default stream, whose handle is NULL.
func (t StreamTable) Default() (number int64) {
	for _, v := range t.Values {
		if v.Meaning == "legacy_default" || v.Meaning == "default" {
			number = v.Value
		}
	}
	return number
}

// NullStridesBefore returns the minor version before which producers may leave the strides of a
// tensor NULL.
func (r *Release) NullStridesBefore() int {
	for _, f := range Find[*Struct](r, "DLTensor").Fields {
		if f.Name == "strides" {
			return f.NullBefore
		}
	}
	return 0
}

// Python contains the names of the Python protocol.
type Python struct {
	Capsule         CapsuleNames
	Versioned       CapsuleNames // empty before 1.0
	VersionedMajor  int          // the version that added it
	VersionedMinor  int
	ExchangeAttr    string // attribute on the type; empty before 1.2
	ExchangeCapsule string // capsule name; empty when the attribute is an int
	OlderExchange   string // attribute of earlier releases, an int; may be empty
}

// CapsuleNames are the names of a capsule before and after it is consumed.
type CapsuleNames struct {
	Fresh string
	Used  string
}

// Kind determines which fields of a Type are set.
type Kind int

// The kinds of type.
const (
	Builtin  Kind = iota // Name: void, char, int, int8 ... uint64
	Named                // Name: an enum, struct, alias or callback of the release
	Pointer              // Elem
	Function             // Func: a pointer to a function without a name of its own
)

// Type is a type in the ABI.
type Type struct {
	Kind  Kind
	Name  string
	Const bool // of what this type names; on Elem for pointer-to-const
	Elem  *Type
	Func  *Func

	node *yaml.Node // its position in the spec; nil in a resolved release
}

// DeclName is the name in C.
func (d *Linkage) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Macro) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Flag) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Enum) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Struct) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Alias) DeclName() string { return d.Name }

// DeclName is the name in C.
func (d *Callback) DeclName() string { return d.Name }

// Of returns the release's declarations of one kind, in declaration order.
func Of[D Decl](r *Release) []D {
	var out []D
	for _, d := range r.Decls {
		if d, ok := d.(D); ok {
			out = append(out, d)
		}
	}
	return out
}
