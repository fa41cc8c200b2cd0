package contract

import "fmt"

// ScalarOf returns the C expression that converts a scalar result to a value of the host. of
// formats the conversion from one C type. The dtype of a variable is known only in the call, so
// each of its dtypes has a branch.
func (k *Kernel) ScalarOf(p Param, at string, of func(ctype, at string) string) string {
	switch {
	case p.Kind == Int:
		return of("int64_t", at)
	case p.Kind == Float:
		return of("double", at)
	case p.Kind == Bool:
		return of("bool", at)
	case p.Var == None:
		return of(CTypes[p.Types[0].Name], at)
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
