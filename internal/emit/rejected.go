package emit

import (
	"errors"
	"fmt"
)

// KernelError is the reason why a target does not support a kernel.
type KernelError struct {
	Kernel string // its name in the config
	Param  string // the argument or result, or ""
	Text   string // the text after the name of the kernel
	Clash  bool   // a name is in use already in the language of the target
}

// Error names the kernel and the reason.
func (e *KernelError) Error() string { return "kernel " + e.Kernel + " " + e.Text }

// CannotMake returns an error about a kernel and, where param is not "", its argument or result.
// The text follows the name of the kernel.
func CannotMake(kernel, param, format string, args ...any) error {
	return &KernelError{Kernel: kernel, Param: param, Text: fmt.Sprintf(format, args...)}
}

// NameTaken returns an error about a kernel whose name is already used in a language.
func NameTaken(kernel, param, format string, args ...any) error {
	return &KernelError{Kernel: kernel, Param: param, Text: fmt.Sprintf(format, args...) + "; rename one", Clash: true}
}

// Rejected returns the errors about kernels among those that err joins.
func Rejected(err error) (all []*KernelError) {
	var one *KernelError
	if many, joined := err.(interface{ Unwrap() []error }); joined {
		for _, e := range many.Unwrap() {
			all = append(all, Rejected(e)...)
		}
	} else if errors.As(err, &one) {
		all = append(all, one)
	}
	return all
}
