// Package kernel describes C functions over tensors: what they take, what they
// write to, and by which names they are called. It reads the text of a schema,
// and knows neither files nor targets.
package kernel

// The limits of one description. Callables keep their arguments on the stack.
const (
	MaxKernels   = 1000
	MaxArguments = 32
	MaxResults   = 8
	MaxSchema    = 4096 // bytes
)

// Kernel is a C function over DLTensors:
//
//	int symbol(ARGUMENTS, RESULTS, void *stream);
//
// in the order of its schema. A tensor is a `const DLTensor *`, or a `DLTensor *`
// where the function writes to it; NULL stands for an optional one that is
// absent. int is int64_t, float is double, bool is bool. Results come allocated,
// row-major and uninitialized. Other tensors come row-major too, as copies where they
// are not, unless the kernel is Strided. 0 is success, any other number an error.
type Kernel struct {
	Name      string
	Namespace string
	Symbol    string // of C
	Header    string // declares the function; "" has it declared by what is emitted
	Error     string // of C: const char *f(int code), the text of an error; or ""
	Doc       string
	Backward  string // the kernel that computes the gradients, in the same namespace; or ""
	Devices   []Device
	Form      string // one of Forms
	Strided   bool   // it heeds strides; else every tensor comes row-major
	Schema    Schema
}

// Forms are the ways to register a kernel with PyTorch, the default first.
var Forms = []string{"function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"}

// Device is a type of device whose tensors a kernel takes.
type Device struct {
	Name  string // kDLCPU
	Value int64
	Torch string // PyTorch's dispatch key, where a vendor says it; "" where DLPack's name tells
}

// Kind is the type of an argument.
type Kind int

// The kinds of argument.
const (
	Tensor Kind = iota
	Int
	Float
	Bool
)

// Argument is one parameter of a kernel.
type Argument struct {
	Name     string
	Kind     Kind
	Optional bool   // of a tensor: it may be absent
	Alias    string // of a tensor that is written to: the letter of its annotation; else ""
}

// Writes tells whether the function writes to the argument.
func (a Argument) Writes() bool { return a.Alias != "" }

// Result is a tensor that the caller allocates with the shape, the data type and
// the device of an argument.
type Result struct {
	Name string // "" when the schema gives none
	Like string // the argument
}

// Schema is what a kernel takes and gives.
type Schema struct {
	Arguments []Argument
	Results   []Result
}

// Argument finds an argument by name, or gives nil.
func (s Schema) Argument(name string) *Argument {
	for i := range s.Arguments {
		if s.Arguments[i].Name == name {
			return &s.Arguments[i]
		}
	}
	return nil
}

// Mutates tells whether the function writes to an argument.
func (s Schema) Mutates() bool {
	for _, a := range s.Arguments {
		if a.Writes() {
			return true
		}
	}
	return false
}

// Tensors gives the arguments that are tensors.
func (s Schema) Tensors() []Argument {
	var out []Argument
	for _, a := range s.Arguments {
		if a.Kind == Tensor {
			out = append(out, a)
		}
	}
	return out
}
