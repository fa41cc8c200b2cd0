// Package contract resolves the description of a kernel (args:, returns:, types:, where: ...) into
// one value: the checks of a caller, their order, and the functions to call.
package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The limits of one description, in addition to those of package kernel.
const (
	MaxVars      = 4
	MaxFunctions = 256 // C functions of one kernel, over all dtypes and devices
)

// Kernel is a described kernel. Callers use one name; there is a C function for each choice of
// dtypes and devices. The C function takes Args, then Results, then a stream:
//
//	int symbol(ARGUMENTS, RESULTS, void *stream);
type Kernel struct {
	Name, Namespace, Doc string
	Vars                 []Var
	Args                 []Param // in the order of C
	Results              []Param // likewise, after the arguments
	Dims                 []Dim   // the symbols of extents, in the order in which they are bound
	Ellipses             []Dim   // the names of "...", "" among them, likewise
	Where                []*notation.Cond
	Devices              []Device
	Error                string // of C: const char *f(int code); or ""
	Errors               []Raise
	Backward             *Backward
	Test                 *Test
	Serial               bool   // one call at a time
	NoBatch              bool   // vmap has no batched form of it
	Form                 string // one of kernel.Forms: how target torch registers it
	HoldsGIL             bool   // a module of Python calls it without releasing the GIL
	GoFunc               string // the Go function of a kernel with `lang: go`; "" for one in C
}

// Saves reports whether a kernel has results that are only for its backward.
func (k *Kernel) Saves() bool { return k.Backward != nil && len(k.Returned()) < len(k.Results) }

// Var is a variable of types:, which has one dtype per call.
type Var struct {
	Name  string
	Types []spec.DType
	Spell []string // the replacement of {NAME} in a symbol, for each of Types
	Arg   int      // the first required tensor that has it
}

// TypeNames returns the names of the dtypes, in their order.
func (v Var) TypeNames() []string { return namesOf(v.Types) }

func namesOf(types []spec.DType) (names []string) {
	for _, d := range types {
		names = append(names, d.Name)
	}
	return names
}

// Limits returns a line of documentation for each variable, such as "T: float32, float64", and for
// each condition, such as "where n >= 1".
func (k *Kernel) Limits() (lines []string) {
	for _, v := range k.Vars {
		lines = append(lines, v.Name+": "+strings.Join(v.TypeNames(), ", "))
	}
	for _, c := range k.Where {
		lines = append(lines, "where "+c.String())
	}
	return lines
}

// Kind is the kind of a parameter.
type Kind int

// The kinds of parameters.
const (
	Tensor Kind = iota
	Int         // int64_t
	Float       // double
	Bool        // bool
	Str         // const char *
	Number      // a scalar of a dtype, or of a variable
	Ints        // const int64_t * and a count
	Floats      // const double * and a count
)

// String returns the kind in words, for findings.
func (k Kind) String() string {
	return [...]string{Tensor: "a tensor", Int: "an integer", Float: "a float", Bool: "a bool", Str: "a string",
		Number: "a scalar", Ints: "a list of integers", Floats: "a list of floats"}[k]
}

// Layout is the required layout of a tensor.
type Layout int

// The layouts.
const (
	Contiguous Layout = iota // C-contiguous
	Strided
	Inner
	AnyOrder
	ColumnMajor
)

// Access is the access of the function to an argument.
type Access int

// The kinds of access.
const (
	In Access = iota
	InOut
	Out
	OfResult // the memory of a result, in a kernel that WithMemory returns
)

// None stands for no variable, no dimension, no argument.
const None = -1

// Param is an argument or a result.
type Param struct {
	Name     string
	Line     string // its line, in the one spelling of package notation
	Kind     Kind
	Types    []spec.DType // that it may have; none: any
	Var      int          // the variable that it has the dtype of, or None
	Extents  []Extent     // of a tensor
	Layout   Layout
	Access   Access
	Align    int64 // in bytes; 0: the alignment of the dtype
	CPU      bool  // on the CPU, wherever the call is
	Copied   bool  // callers copy it if it is not C-contiguous
	Aliases  []int // the arguments that it may overlap, though it is written
	Zeroed   bool  // of a result
	Saved    bool  // of a result: for the backward alone
	Optional bool  // it may be None: NULL in C
	Default  *notation.Value
	Count    int64 // of a list: exactly so many; 0: any
	Least    int64 // of a list: at least so many, which the description refers to
}

// Writes reports whether the function writes to a tensor argument.
func (p Param) Writes() bool { return p.Access != In }

// Expected returns the description of a parameter's values in messages, for parameters that are not
// tensors.
func (p Param) Expected() string {
	switch p.Kind {
	case Int:
		return "int"
	case Float:
		return "float"
	case Bool:
		return "bool"
	case Str:
		return "str"
	case Ints:
		return "a list of int"
	case Floats:
		return "a list of float"
	}
	return strings.SplitN(p.Line, " ", 2)[0]
}

// AsTensor returns the type of a tensor of rank 0 for the values of a scalar.
func (p Param) AsTensor() string {
	dtypes := map[Kind]string{Int: "int64", Float: "float64"}
	return cmp.Or(dtypes[p.Kind], p.Expected()) + "[]"
}

// Rank returns the number of dimensions of a tensor except those of an ellipsis, and the ellipsis's
// index among the extents, or None.
func (p Param) Rank() (rank, ellipsis int) {
	ellipsis = slices.IndexFunc(p.Extents, func(e Extent) bool { return e.Form == Ellipsis })
	if ellipsis == None {
		return len(p.Extents), None
	}
	return len(p.Extents) - 1, ellipsis
}

// Form is the kind of an extent.
type Form int

// The forms of extents.
const (
	Any      Form = iota
	Fixed         // it is Number
	Symbol        // it binds Dim, or is compared with it
	Solved        // it binds Dim, which occurs only in an expression
	Computed      // it is Size, which is computed after every symbol is bound
	Ellipsis      // any number of dimensions, which bind Dim of Ellipses, or are compared with it
)

// Extent is one entry between the brackets of a tensor.
type Extent struct {
	Form   Form
	Number int64
	Dim    int
	Size   *notation.Expr // of Fixed, Symbol, Solved and Computed
}

// Dim is a symbol, or an ellipsis.
type Dim struct {
	Name string
	// Arg is the first argument that determines its value: an int argument of the same name, or
	// else a tensor.
	Arg int
	// Flagged: that argument may be absent, so the call must find the argument that determines the
	// value.
	Flagged bool
	// Always: a required argument determines the value.
	Always bool
	Solve  *Solve // if it is never a whole extent
}

// Solve is an extent that determines its symbol: the extent is symbol Op Number.
type Solve struct {
	Op     notation.Op
	Number int64
}

// Device is a device type with its C functions.
type Device struct {
	Name      string
	Value     int64
	Torch     string // PyTorch's dispatch key, if a vendor declares one
	Owner     string // the device whose runtime allocates its memory, for pinned and managed memory
	Graphs    bool   // calls may be captured in graphs
	Functions []Function
}

// Platform returns the name of a device's runtime for users: "cuda" also for pinned memory.
func (d Device) Platform() string {
	return strings.ToLower(strings.TrimPrefix(cmp.Or(d.Owner, d.Name), "kDL"))
}

// Function is a C function, with its dtypes and device.
type Function struct {
	Symbol string
	Types  []int // for each variable, an index of its Types; None: for all of them
}

// Raise is the exception for a status of the C function.
type Raise struct {
	Code  int64
	Class string // as Python names it
	Arg   int    // the argument that it is about, or None
	Text  string
}

// Classes are the supported exceptions for a status.
var Classes = []string{
	"TypeError", "ValueError", "BufferError", "RuntimeError", "IndexError", "MemoryError", "NotImplementedError",
}

// Backward is the kernel that computes gradients. Its arguments are a gradient for each result that
// callers receive, then Saves. Its results are a gradient for each of Of.
type Backward struct {
	Kernel string
	Saves  []string // arguments and results
	Of     []int    // arguments
}

// Test is the key `test` of a kernel.
type Test struct {
	Reference string // module:function of Python
	Sizes     []Sizes
	Tolerance []Tolerance
}

// Sizes are the values of a symbol in tests.
type Sizes struct {
	Dim    int
	Values []int64
}

// Tolerance is the permitted error of results of a dtype.
type Tolerance struct {
	Type  spec.DType
	Value float64
}

// Arg returns the index of an argument, or None.
func (k *Kernel) Arg(name string) int { return named(k.Args, name) }

// Result returns the index of a result, or None.
func (k *Kernel) Result(name string) int { return named(k.Results, name) }

func named(all []Param, name string) int {
	return slices.IndexFunc(all, func(p Param) bool { return p.Name == name })
}

// Dim returns the index of a symbol, or None.
func (k *Kernel) Dim(name string) int {
	return slices.IndexFunc(k.Dims, func(d Dim) bool { return d.Name == name })
}

// Texts returns the values that conditions allow for an argument of type str, or none if they allow
// all.
func (k *Kernel) Texts(name string) (allowed []notation.Value) {
	limited := false
	var limit func(c *notation.Cond)
	limit = func(c *notation.Cond) {
		switch {
		case c.Op == "and":
			for _, part := range c.Conds {
				limit(part)
			}
		case c.Op != "in" || c.Left.Op != notation.Symbol || c.Left.Name != name:
		case !limited:
			limited, allowed = true, c.In
		default:
			allowed = common(allowed, c.In)
		}
	}
	for _, c := range k.Where {
		limit(c)
	}
	return allowed
}

// Var returns the index of a variable, or None.
func (k *Kernel) Var(name string) int {
	return slices.IndexFunc(k.Vars, func(v Var) bool { return v.Name == name })
}

// Member returns the name of a struct member in C for a name. A name that may be a macro is
// changed.
func Member(name string) string {
	if kernel.LooksLikeMacro(name) {
		return name + "_"
	}
	return name
}

// InGo returns the kernels with `lang: go`.
func InGo(all []Kernel) []Kernel { return written(all, true) }

// InC returns the kernels whose author writes C.
func InC(all []Kernel) []Kernel { return written(all, false) }

func written(all []Kernel, inGo bool) (some []Kernel) {
	for _, k := range all {
		if (k.GoFunc != "") == inGo {
			some = append(some, k)
		}
	}
	return some
}

// Written returns the tensor arguments that the function writes to.
func (k *Kernel) Written() (all []Param) {
	for _, p := range k.Args {
		if p.Kind == Tensor && p.Writes() {
			all = append(all, p)
		}
	}
	return all
}

// Returned returns the results that callers receive.
func (k *Kernel) Returned() []Param {
	return slices.DeleteFunc(slices.Clone(k.Results), func(p Param) bool { return p.Saved })
}

// WithMemory describes the calls of a kernel that pass the memory of all results as further
// arguments.
func (k *Kernel) WithMemory() *Kernel {
	made := *k
	made.Args, made.Results = slices.Clone(k.Args), nil
	for _, p := range k.Results {
		p.Access = OfResult
		made.Args = append(made.Args, p)
	}
	return &made
}

// Apart returns the pairs of tensor arguments that must not overlap. The first of each pair is
// written.
func (k *Kernel) Apart() (all [][2]int) {
	for i, p := range k.Args {
		for j, other := range k.Args {
			if p.Kind != Tensor || other.Kind != Tensor || !p.Writes() || i == j || other.Writes() && j < i {
				continue
			}
			if !slices.Contains(p.Aliases, j) && !slices.Contains(other.Aliases, i) {
				all = append(all, [2]int{i, j})
			}
		}
	}
	return all
}
