package traced

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Form returns the kind of a parameter for the host, by its name in scalars.py.
func Form(p contract.Param) string {
	switch p.Kind {
	case contract.Tensor:
		return "tensor"
	case contract.Int:
		return "integer"
	case contract.Float:
		return "real"
	case contract.Bool:
		return "truth"
	case contract.Str:
		return "text"
	case contract.Ints:
		return "integers"
	case contract.Floats:
		return "reals"
	}
	if p.Var != contract.None {
		return "number"
	}
	switch contract.CTypes[p.Types[0].Name] {
	case "float", "double":
		return "real"
	case "bool":
		return "truth"
	}
	return "integer"
}

// fill writes the assignment of an argument to the struct of a call.
func fill(i int, p contract.Param) []string {
	to, from := "kernel_->args."+p.Name, fmt.Sprintf("values_[%d]", i)
	switch p.Kind {
	case contract.Tensor:
		ctype := "const DLTensor*"
		if p.Writes() {
			ctype = "DLTensor*"
		}
		return []string{fmt.Sprintf("%s = (%s)%s.items;", to, ctype, from),
			fmt.Sprintf("kernel_->flags.%s = 0;", p.Name)}
	case contract.Str:
		return []string{fmt.Sprintf("%s = (const char*)%s.items;", to, from)}
	case contract.Ints:
		return []string{fmt.Sprintf("%s.items = (const int64_t*)%s.items;", to, from),
			fmt.Sprintf("%s.count = %s.count;", to, from)}
	case contract.Floats:
		return []string{fmt.Sprintf("%s.items = (const double*)%s.items;", to, from),
			fmt.Sprintf("%s.count = %s.count;", to, from)}
	case contract.Number:
		if p.Var != contract.None {
			return []string{fmt.Sprintf("%s.integer = %s.integer;", to, from),
				fmt.Sprintf("%s.real = %s.real;", to, from)}
		}
	}
	value := scalar(p, from)
	if !p.Optional {
		return []string{fmt.Sprintf("%s = %s;", to, value)}
	}
	narrow := fmt.Sprintf("%s.narrow.as_%s", from, p.CType())
	return []string{fmt.Sprintf("%s = %s.is_present ? &%s : NULL;", to, from, narrow),
		fmt.Sprintf("if (%s.is_present) %s = %s;", from, narrow, value)}
}

// scalar returns a value in its C type.
func scalar(p contract.Param, from string) string {
	switch Form(p) {
	case "truth":
		return from + ".integer != 0"
	case "real":
		return "(" + p.CType() + ")" + from + ".real"
	}
	return "(" + p.CType() + ")" + from + ".integer"
}
