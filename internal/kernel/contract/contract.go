// Package contract resolves the description of a kernel (args:, returns:, types:, where: ...) into
// one value, which says what a caller checks, in which order, and what it calls.
package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The limits of one description, beside those of package kernel.
const (
	MaxVars      = 4
	MaxFunctions = 256 // C functions of one kernel, over all dtypes and devices
	MaxNDim      = 64
)

// Kernel is one name to callers, and a C function for each choice of dtypes and devices.
// The C function takes Args, then Results, then a stream:
//
//	int symbol(ARGUMENTS, RESULTS, void *stream);
type Kernel struct {
	Name, Namespace, Doc string
	Vars                 []Var
	Args                 []Param // in the order of C
	Results              []Param // likewise, behind the arguments
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

// Saves reports whether a kernel has results for its backward alone.
func (k *Kernel) Saves() bool { return k.Backward != nil && len(k.Given()) < len(k.Results) }

// Var is a name of types:, which stands for one dtype in a call.
type Var struct {
	Name  string
	Types []spec.DType
	Spell []string // what {NAME} in a symbol becomes, for each of Types
	Arg   int      // the first required tensor that has it
}

// Kind is what a parameter is in a call.
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

// String is the kind in words, as findings have it.
func (k Kind) String() string {
	return [...]string{Tensor: "a tensor", Int: "an integer", Float: "a float", Bool: "a bool", Str: "a text",
		Number: "a scalar", Ints: "a list of integers", Floats: "a list of floats"}[k]
}

// Layout is how the elements of a tensor must lie.
type Layout int

// The layouts.
const (
	Contiguous Layout = iota // C-contiguous
	Strided
	Inner
	AnyOrder
	ColumnMajor
)

// Access is what the function does with an argument.
type Access int

// The kinds of access.
const (
	In Access = iota
	InOut
	Out
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
	Align    int64 // in bytes; 0: what the dtype needs
	CPU      bool  // on the CPU, wherever the call is
	Copied   bool  // callers copy it where it is not C-contiguous
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

// Expected is what messages call a value that the parameter takes, where that is no tensor.
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

// Rank returns the dimensions of a tensor beside those of an ellipsis, and the place of that among
// the extents, or None.
func (p Param) Rank() (rank, ellipsis int) {
	ellipsis = slices.IndexFunc(p.Extents, func(e Extent) bool { return e.Form == Ellipsis })
	if ellipsis == None {
		return len(p.Extents), None
	}
	return len(p.Extents) - 1, ellipsis
}

// Form tells what is done with an extent.
type Form int

// The forms of extents.
const (
	Any      Form = iota
	Fixed         // it is Number
	Symbol        // it binds Dim, or is compared with it
	Solved        // it binds Dim, which stands in an expression alone
	Computed      // it is Size, which is computed once every symbol is bound
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
	// Arg is the first argument that binds it: an int argument of its name, else a tensor.
	Arg int
	// Flagged: that argument may be absent, so that the call finds out which one binds it.
	Flagged bool
	// Always: an argument that is never absent binds it.
	Always bool
	Solve  *Solve // where it never stands bare
}

// Solve is how an extent gives its symbol: the extent is symbol Op Number.
type Solve struct {
	Op     notation.Op
	Number int64
}

// Device is a type of device, with the C functions for it.
type Device struct {
	Name      string
	Value     int64
	Torch     string // PyTorch's dispatch key, where a vendor declares one
	Owner     string // the device whose runtime allocates its memory, for pinned and managed memory
	Graphs    bool   // calls may be captured in graphs
	Functions []Function
}

// Platform is the name of the runtime that a device is of, as a user knows it: "cuda" also for
// pinned memory.
func (d Device) Platform() string {
	return strings.ToLower(strings.TrimPrefix(cmp.Or(d.Owner, d.Name), "kDL"))
}

// Function is a C function and what it is for.
type Function struct {
	Symbol string
	Types  []int // for each variable, an index of its Types; None: for all of them
}

// Raise is what callers raise for a status of the C function.
type Raise struct {
	Code  int64
	Class string // as Python names it
	Arg   int    // the argument that it is about, or None
	Text  string
}

// Classes are the exceptions that a status can become.
var Classes = []string{
	"TypeError", "ValueError", "BufferError", "RuntimeError", "IndexError", "MemoryError", "NotImplementedError",
}

// Backward is the kernel that computes gradients: it takes one for each result that callers get,
// then Saves, and gives one for each of Of.
type Backward struct {
	Kernel string
	Saves  []string // arguments and results
	Of     []int    // arguments
}

// Test is what the tests of a kernel are made from.
type Test struct {
	Reference string // module:function of Python
	Sizes     []Sizes
	Tolerance []Tolerance
}

// Sizes are what a symbol is tried with.
type Sizes struct {
	Dim    int
	Values []int64
}

// Tolerance is how far results of a dtype may be off.
type Tolerance struct {
	Type  spec.DType
	Value float64
}

// Arg returns the place of an argument, or None.
func (k *Kernel) Arg(name string) int { return named(k.Args, name) }

// Result returns the place of a result, or None.
func (k *Kernel) Result(name string) int { return named(k.Results, name) }

func named(all []Param, name string) int {
	return slices.IndexFunc(all, func(p Param) bool { return p.Name == name })
}

// Dim returns the place of a symbol, or None.
func (k *Kernel) Dim(name string) int {
	return slices.IndexFunc(k.Dims, func(d Dim) bool { return d.Name == name })
}

// Texts are those that conditions allow an argument of type str; none where they allow any.
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

// Var returns the place of a variable, or None.
func (k *Kernel) Var(name string) int {
	return slices.IndexFunc(k.Vars, func(v Var) bool { return v.Name == name })
}

// Member is a name as a member of a struct in C: one that a macro may have gets another.
func Member(name string) string {
	if kernel.LooksLikeMacro(name) {
		return name + "_"
	}
	return name
}

// InGo lists the kernels with `lang: go`.
func InGo(all []Kernel) []Kernel { return written(all, true) }

// InC lists the kernels whose author writes C.
func InC(all []Kernel) []Kernel { return written(all, false) }

func written(all []Kernel, inGo bool) (some []Kernel) {
	for _, k := range all {
		if (k.GoFunc != "") == inGo {
			some = append(some, k)
		}
	}
	return some
}

// Written lists the tensors among the arguments that the function writes to.
func (k *Kernel) Written() (all []Param) {
	for _, p := range k.Args {
		if p.Kind == Tensor && p.Writes() {
			all = append(all, p)
		}
	}
	return all
}

// Given lists the results that callers get.
func (k *Kernel) Given() []Param {
	return slices.DeleteFunc(slices.Clone(k.Results), func(p Param) bool { return p.Saved })
}

// Apart lists the pairs of tensor arguments that must not overlap: the first one is written.
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
