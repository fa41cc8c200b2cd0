package tvmffi

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// pythonView is the data of a kernel for the Python template.
type pythonView struct {
	Name, Parameters, Doc string
	Lines                 []string
}

func viewPython(k *contract.Kernel) pythonView {
	v := pythonView{Name: k.Name, Doc: docString(k)}
	var values []string
	for i, p := range k.Args {
		value := p.Name
		if p.Kind == contract.Ints || p.Kind == contract.Floats {
			value = fmt.Sprintf("_listed(%s, \"%s(): argument '%s' (%s)\")", p.Name, k.Name, p.Name, emit.Ordinal(i+1))
		}
		values = append(values, value)
		v.Parameters += ", " + p.Name
		if p.Default != nil {
			v.Parameters += "=" + p.Default.String()
		}
	}
	call := fmt.Sprintf("self_.%s_(%s)", k.Name, strings.Join(values, ", "))
	if len(k.Returned()) > 1 {
		call = "(*" + call + ",)" // an argument may have the name tuple
	}
	if len(memory(k)) > 0 {
		v.Parameters += ", *, out=None"
		v.Lines = []string{"if out is not None:", fmt.Sprintf("    return _written(%q, self_.%s_, %s, out, %s)",
			k.Name, k.Name, tuple(values), tuple(tensors(k)))}
	}
	v.Lines = append(v.Lines, "return "+call)
	return v
}

// tensors reports for each result whether it is a tensor.
func tensors(k *contract.Kernel) (all []string) {
	for _, p := range k.Returned() {
		all = append(all, map[bool]string{true: "True", false: "False"}[p.Kind == contract.Tensor])
	}
	return all
}

func tuple(items []string) string {
	if len(items) == 1 {
		return "(" + items[0] + ",)"
	}
	return "(" + strings.Join(items, ", ") + ")"
}

// docString formats the documentation as the docstring of a method.
func docString(k *contract.Kernel) string {
	return emit.PythonDocstring(strings.TrimSpace(strings.Join(lines(k)[1:], "\n")), "        ")
}
