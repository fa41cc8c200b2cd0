package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// CType returns the C type of a scalar; "" if its dtype is determined in the call, and for any
// other kind of parameter.
func (p Param) CType() string {
	switch p.Kind {
	case Int:
		return "int64_t"
	case Float:
		return "double"
	case Bool:
		return "bool"
	case Number:
		if p.Var == None {
			return CTypes[p.Types[0].Name]
		}
	}
	return ""
}

// ZeroScalar returns the declaration of a scalar in C, with the value 0.
func (p Param) ZeroScalar(name string) string {
	switch ctype := p.CType(); ctype {
	case "":
		return "union dlpackgen_scalar " + name + " = {0}"
	case "bool":
		return "bool " + name + " = false"
	default:
		return ctype + " " + name + " = 0"
	}
}

// ScalarOf returns the C expression that converts a scalar result to a value of the host. of
// formats the conversion from one C type. The dtype of a variable is known only in the call, so
// each of its dtypes has a branch.
func (k *Kernel) ScalarOf(p Param, at string, of func(ctype, at string) string) string {
	if ctype := p.CType(); ctype != "" {
		return of(ctype, at)
	}
	v, text := k.Vars[p.Var], ""
	for n, d := range v.Types {
		ctype := CTypes[d.Name]
		value := of(ctype, at+".as_"+ctype)
		if n == len(v.Types)-1 {
			return text + value
		}
		text += fmt.Sprintf("kernel_.types.%s == %d ? %s : ", Member(v.Name), n, value)
	}
	return text
}

// ScalarRead is how callers read a scalar of a dtype.
type ScalarRead struct {
	Function string   // the end of the name of the C function: bits, within or real
	Limits   []string // the name of the dtype, and the bounds of its numbers, in C
	Real     bool     // the result is a double, otherwise an int64_t
}

// ScalarReadOf returns how callers read a scalar of a dtype.
func ScalarReadOf(d spec.DType) ScalarRead {
	name, largest := strconv.Quote(d.Name), CLargest(d.Name)
	switch {
	case d.IsSigned():
		return ScalarRead{"bits", []string{name, strconv.Itoa(d.Bits), "1"}, false}
	case d.IsInteger():
		return ScalarRead{"bits", []string{name, strconv.Itoa(d.Bits), "0"}, false}
	case d.IsBool():
		return ScalarRead{"bits", []string{name, "1", "0"}, false}
	case largest == "":
		return ScalarRead{"real", []string{name}, true}
	}
	return ScalarRead{"within", []string{name, largest}, true}
}

// Call returns the call of the function in C. prefix is the beginning of its name; integer and real
// are the variables of the result.
func (r ScalarRead) Call(prefix string, before []string, integer, real string, after ...string) string {
	result := "&" + integer
	if r.Real {
		result = "&" + real
	}
	arguments := slices.Concat(before, r.Limits, []string{result}, after)
	return prefix + r.Function + "(" + strings.Join(arguments, ", ") + ")"
}
