package tvmffi

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// direct returns the condition of a call that needs no conversion: all arguments are present, and
// each has the type of the description. Its last operand makes the call.
func direct(k *contract.Kernel) string {
	if !checks.IsDirect(k) {
		return ""
	}
	all := memory(k)
	conditions := []string{fmt.Sprintf("count == %d", len(k.Args)+len(all))}
	var values []string
	for i, p := range append(append([]contract.Param{}, k.Args...), all...) {
		at := fmt.Sprintf("args[%d]", i)
		kind, member := "", ""
		switch {
		case p.Kind == contract.Tensor:
			plain := "dlpackgen_tvmffi_plain_tensor(&" + at + ")"
			if p.Optional {
				conditions = append(conditions, "("+at+".type_index == DLPACKGEN_TVM_FFI_NONE || "+plain+")")
			}
			values = append(values, plain)
			continue
		case p.Optional:
			return ""
		case p.Kind == contract.Int:
			kind, member = "INT", "v_int64"
		case p.Kind == contract.Float:
			kind, member = "FLOAT", "v_float64"
		case p.Kind == contract.Bool:
			kind, member = "BOOL", "v_int64 != 0"
		default:
			return ""
		}
		conditions = append(conditions, at+".type_index == DLPACKGEN_TVM_FFI_"+kind)
		values = append(values, at+"."+member)
	}
	return strings.Join(append(conditions, fmt.Sprintf("dlpackgen_try_kernel_%s(%s, NULL, &failure)", k.Name,
		strings.Join(values, ", "))), " && ")
}
