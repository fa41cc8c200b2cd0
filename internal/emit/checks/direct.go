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
	// Made are the parameters of results, and PassedMade their names, each with ", " after it.
	Made, PassedMade string
}

// passedPrefix is the prefix of its parameters, which keeps them apart from the local variables.
const passedPrefix = "passed_"

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
	return hasUsual(onCPU(k))
}

// onCPU describes the calls of a kernel on the CPU that pass the memory of all results.
func onCPU(k *contract.Kernel) *contract.Kernel {
	made := k.WithMemory()
	made.Devices = slices.DeleteFunc(slices.Clone(k.Devices), func(d contract.Device) bool { return !isCPU(d) })
	return made
}

// viewDirect returns one, or none.
func viewDirect(k *contract.Kernel) []direct {
	if !IsDirect(k) {
		return nil
	}
	var v direct
	var parameters []string
	k = onCPU(k)
	for _, p := range k.Args {
		made := p.Access == contract.OfResult
		if !made {
			v.Assigns = append(v.Assigns, assign("storage_", p, passedPrefix)...)
		}
		p.Name = passedPrefix + p.Name
		declared := parameter(p, anyNumber)
		parameters = append(parameters, declared)
		if made {
			v.Made += declared + ", "
			v.PassedMade += p.Name + ", "
		}
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
