package kernel

import (
	"fmt"
	"slices"
)

// Gradients gives the schema that the backward of a kernel has: a gradient for
// each result, then the kernel's own arguments; a gradient for each tensor among
// these.
func (s Schema) Gradients() Schema {
	var out Schema
	for i := range s.Results {
		out.Arguments = append(out.Arguments, Argument{Name: fmt.Sprintf("grad%d", i), Kind: Tensor})
	}
	out.Arguments = slices.Concat(out.Arguments, s.Arguments)
	for _, a := range s.Tensors() {
		out.Results = append(out.Results, Result{Like: a.Name})
	}
	return out
}

// CheckBackward tells why other cannot compute the gradients of s, or gives "".
func (s Schema) CheckBackward(other Schema) string {
	if len(s.Results) == 0 {
		return "a kernel without a result has no gradient"
	}
	if s.Mutates() || other.Mutates() {
		return "neither a kernel with a backward nor the backward may write to an argument"
	}
	if slices.ContainsFunc(s.Arguments, func(a Argument) bool { return a.Optional }) {
		return "a kernel with a backward takes no optional tensor"
	}
	want := s.Gradients()
	if !slices.EqualFunc(want.Arguments, other.Arguments,
		func(a, b Argument) bool { return a.Kind == b.Kind && !b.Optional }) {
		return fmt.Sprintf("the backward must take %s: the gradients of the results, then what the kernel takes", want)
	}
	if len(want.Results) != len(other.Results) {
		return fmt.Sprintf("the backward must give %d results, one for each tensor that the kernel takes, not %d",
			len(want.Results), len(other.Results))
	}
	return s.checkLikes(other)
}

// checkLikes wants each gradient to have the shape of what it is the gradient of.
func (s Schema) checkLikes(other Schema) string {
	at := 0
	for i, a := range s.Arguments {
		if a.Kind != Tensor {
			continue
		}
		if want := other.Arguments[len(s.Results)+i].Name; other.Results[at].Like != want {
			return fmt.Sprintf("result %d of the backward is the gradient of %s: it must be like %s, not like %s",
				at, a.Name, want, other.Results[at].Like)
		}
		at++
	}
	return ""
}
