// Package kernel contains the limits of a config's kernels, and the rules for their names.
package kernel

// The limits of one description. Callables keep their arguments on the stack.
const (
	MaxKernels   = 1000
	MaxArguments = 32
	MaxResults   = 8
)

// Forms are the ways to register a kernel with PyTorch, the default first.
var Forms = []string{"function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"}
