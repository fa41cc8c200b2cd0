package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// direct is the data of a function that checks all arguments and the memory of all results in one
// pass, without messages, and calls the kernel's function: in most calls by hosts that pass memory
// for the results.
type direct struct {
	Head    string
	Assigns []string
	Locals  []string
	Steps   []step
	Device  device
}

// given is the prefix of its parameters, which keeps them apart from the local variables.
const given = "given_"

// memory is the access to an argument that is the memory of a result.
const memory = contract.Out + 1

// IsDirect reports whether a kernel has such a function: every condition of its description is part
// of the fast check.
func IsDirect(k *contract.Kernel) bool {
	if !slices.ContainsFunc(k.Devices, isCPU) || len(k.Where) > 0 || k.Serial {
		return false
	}
	computed := func(e contract.Extent) bool { return e.Form == contract.Computed }
	for _, p := range k.Args {
		switch p.Kind {
		case contract.Str, contract.Ints, contract.Floats:
			return false
		}
		if slices.ContainsFunc(p.Extents, computed) {
			return false
		}
	}
	for _, p := range k.Results {
		if p.Kind != contract.Tensor || p.Saved || p.Zeroed || slices.ContainsFunc(p.Extents, computed) {
			return false
		}
	}
	return hasUsual(withMemory(k))
}

// withMemory describes the calls on the CPU of a kernel that takes the memory of its results as
// further arguments.
func withMemory(k *contract.Kernel) *contract.Kernel {
	made := *k
	made.Args, made.Results = slices.Clone(k.Args), nil
	for _, p := range k.Results {
		p.Access = memory
		made.Args = append(made.Args, p)
	}
	made.Devices = slices.DeleteFunc(slices.Clone(k.Devices), func(d contract.Device) bool { return !isCPU(d) })
	return &made
}

// viewDirect returns one, or none.
func viewDirect(k *contract.Kernel) []direct {
	if !IsDirect(k) {
		return nil
	}
	var v direct
	var parameters []string
	k = withMemory(k)
	for _, p := range k.Args {
		if p.Access != memory {
			v.Assigns = append(v.Assigns, assign("room_", p, given)...)
		}
		p.Name = given + p.Name
		parameters = append(parameters, parameter(p, anyNumber))
	}
	v.Head = fmt.Sprintf("int dlpackgen_try_kernel_%s(%s)", k.Name,
		strings.Join(append(parameters, "void* stream", "int* failure_"), ", "))
	v.Device = device{Case: fmt.Sprint(k.Devices[0].Value), Switch: choice(k, k.Devices[0])}
	for _, f := range k.Devices[0].Functions {
		v.Device.Calls = append(v.Device.Calls, call(k, f))
	}
	c := checker{k: k, short: true}
	c.declare()
	c.usual()
	v.Steps, v.Locals = c.steps, cformat.AlignComments(c.locals)
	return []direct{v}
}
