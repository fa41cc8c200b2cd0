// Package notation parses the lines that describe the arguments, results and conditions of a
// kernel, such as "T[..., n] strided = None". It implements only the grammar:
// internal/kernel/contract resolves the names and checks the relations between lines.
package notation

import "fmt"

// Line is an argument or a result: TYPE, "?", modifiers, "= default".
type Line struct {
	Type     Type
	Typed    bool // the type was read to its end, whatever follows it
	Optional bool // may be None
	// OptionalAt is the position of "?".
	OptionalAt int
	Modifiers  []Modifier
	Default    *Value // nil: none
}

// Kind is the kind of a type.
type Kind int

// The kinds of types.
const (
	Tensor Kind = iota // ELEMENT[EXTENTS]
	Scalar             // ELEMENT alone
	List               // list[ELEMENT] or list[ELEMENT, COUNT]
)

// Type is the type of an argument or a result.
type Type struct {
	Kind     Kind
	Elements []Name   // the alternatives, in their order; a scalar and a list have one
	Extents  []Extent // of a tensor
	Count    int64    // of a list; 0: any
}

// Name is a word and where it begins.
type Name struct {
	Text string
	At   int // byte offset in the line
}

// ExtentForm is the form of an extent.
type ExtentForm int

// The forms of extents.
const (
	Sized    ExtentForm = iota // an expression
	Unnamed                    // "_": any extent
	Ellipsis                   // "...": any number of dimensions, alike wherever its name stands
)

// Extent is one entry between the brackets of a tensor.
type Extent struct {
	Form ExtentForm
	Name string // of an ellipsis, which may have none
	Size *Expr  // where the form is Sized
	At   int
}

// Modifier is a property of a tensor, such as "strided" or "aligned 64".
type Modifier struct {
	Name
	Number int64  // of "aligned N"
	Of     string // the argument of "aliases x"
}

// Op is the operator of an expression.
type Op string

// The operators without a sign.
const (
	Literal Op = "literal" // Number
	Symbol  Op = "symbol"  // Name
	Size    Op = "size"    // x.size
	Shape   Op = "shape"   // x.shape[operand]
	Item    Op = "item"    // sizes[operand]
	Negate  Op = "negate"
	Min     Op = "min"
	Max     Op = "max"
	// Add and the others are spelled as in the notation: "+", "-", "*", "//", "%".
	Add       Op = "+"
	Subtract  Op = "-"
	Multiply  Op = "*"
	FloorDiv  Op = "//"
	Remainder Op = "%"
)

// Expr is an expression over integers.
type Expr struct {
	Op       Op
	Number   int64
	Name     string
	Operands []*Expr
	At       int
}

// Cond is a condition: a comparison, or several with "and" or "or".
type Cond struct {
	Op          string // "and", "or", "in", "==", "!=", "<", "<=", ">", ">="
	Conds       []*Cond
	Left, Right *Expr   // of a comparison; "in" has no right side
	In          []Value // of "in"
	At          int
}

// ValueKind is the kind of a default or of an alternative of "in".
type ValueKind int

// The kinds of values.
const (
	None ValueKind = iota
	Bool
	Int
	Natural // an integer from 2^63 to 2^64 - 1, which uint64 and floats hold alone
	Float
	Text
	Bare // a bare word, as a dtype in "in float16|bfloat16"
)

// Value is a literal.
type Value struct {
	Kind    ValueKind
	Bool    bool
	Int     int64
	Natural uint64
	Float   float64
	Text    string
	At      int
}

// Error is a syntax error, or a limit that a text exceeds.
type Error struct {
	At         int // byte offset in the line
	Text, Hint string
	TooMany    bool // a limit is exceeded, and the syntax is right
}

// Error returns the column, from 1, and the problem.
func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.At+1, e.Text) }
