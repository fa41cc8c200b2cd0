package python

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// document writes the signature and the text that Python shows, and the types of the stub.
func (w *wrapper) document() {
	signature, typed := append([]string{"$module"}, emit.PythonArguments(w.k)...), []string{}
	for _, p := range w.k.Args {
		value := ""
		if p.Default != nil {
			value = " = " + p.Default.String()
		}
		typed = append(typed, p.Name+": "+w.annotation(p)+value)
	}
	if keywords := w.keywords(); len(keywords) > 0 {
		signature, typed = append(signature, "*"), append(typed, "*")
		for _, k := range keywords {
			signature, typed = append(signature, k.name+"=None"), append(typed, k.name+": "+k.typed+" = None")
		}
	}
	w.v.Doc = []string{emit.CLiteral(fmt.Sprintf("%s(%s)\n--\n\n", w.v.Name, strings.Join(signature, ", ")))}
	text := w.described()
	for line := range strings.Lines(text) {
		w.v.Doc = append(w.v.Doc, emit.CLiteral(line))
	}
	w.v.Typed, w.v.Returned = strings.Join(typed, ", "), w.returned()
	w.v.DocString = docString(text)
}

// docString spells a text as the body of a function in a stub.
func docString(text string) string {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, `\`, `\\`), "\n"), "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = "    " + line
		}
	}
	return `"""` + strings.Join(lines, "\n") + `"""`
}

// keyword is an argument that callers add.
type keyword struct{ name, typed string }

func (w *wrapper) keywords() (all []keyword) {
	switch n := len(w.tensors()); {
	case n == 1:
		all = append(all, keyword{"out", "SupportsDLPack | None"})
	case n > 1:
		all = append(all, keyword{"out", "tuple[" + strings.TrimSuffix(strings.Repeat("SupportsDLPack | None, ", n),
			", ") + "] | None"})
	}
	if w.like != contract.None {
		all = append(all, keyword{"like", "_Array | None"})
	}
	if w.v.TakesStream == 1 {
		all = append(all, keyword{"stream", "int | None"})
	}
	return all
}

// described describes the kernel: its arguments and results with their dtypes and shapes.
func (w *wrapper) described() string {
	var out strings.Builder
	if w.k.Doc != "" {
		out.WriteString(w.k.Doc + "\n\n")
	}
	for _, p := range w.k.Args {
		fmt.Fprintf(&out, "%s: %s\n", p.Name, p.Line)
	}
	for _, p := range w.given {
		fmt.Fprintf(&out, "returns %s: %s\n", p.Name, p.Line)
	}
	for _, v := range w.k.Vars {
		var names []string
		for _, d := range v.Types {
			names = append(names, d.Name)
		}
		fmt.Fprintf(&out, "%s: %s\n", v.Name, strings.Join(names, ", "))
	}
	for _, c := range w.k.Where {
		fmt.Fprintf(&out, "where %s\n", c)
	}
	return strings.ReplaceAll(out.String(), `"`, "'")
}

// annotation is the type of an argument in the stub. That which results are like has a variable.
func (w *wrapper) annotation(p contract.Param) string {
	text := "SupportsDLPack"
	switch p.Kind {
	case contract.Int:
		text = "int"
	case contract.Float:
		text = "float"
	case contract.Bool:
		text = "bool"
	case contract.Str:
		text = "str"
	case contract.Ints:
		text = "Sequence[int]"
	case contract.Floats:
		text = "Sequence[float]"
	case contract.Number:
		text = numberType(p)
	case contract.Tensor:
		if w.maker() == p.Name && len(w.tensors()) > 0 {
			text = "_Array"
		}
	}
	if p.Optional {
		text += " | None"
	}
	return text
}

// maker names the argument whose library makes the results, where one always does.
func (w *wrapper) maker() string {
	if all := w.candidates(); len(all) > 0 && !w.k.Args[all[0]].Optional {
		return w.k.Args[all[0]].Name
	}
	return ""
}

// numberType is the type of a scalar of a dtype.
func numberType(p contract.Param) string {
	for _, d := range p.Types {
		if c := contract.CTypes[d.Name]; c == "float" || c == "double" {
			return "float"
		}
	}
	if len(p.Types) == 1 && p.Types[0].Name == "bool" {
		return "bool"
	}
	return "int"
}

// returned is the type of what the function returns.
func (w *wrapper) returned() string {
	var all []string
	for _, p := range w.given {
		switch p.Kind {
		case contract.Tensor:
			if w.maker() != "" {
				all = append(all, "_Array")
			} else {
				all = append(all, "Any")
			}
		default:
			all = append(all, w.annotation(p))
		}
	}
	switch len(all) {
	case 0:
		return "None"
	case 1:
		return all[0]
	}
	return "tuple[" + strings.Join(all, ", ") + "]"
}
