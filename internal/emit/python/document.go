package python

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// stubSignature is one overload of a function in the stub.
type stubSignature struct{ Typed, Returned string }

// document writes the signature and the docstring, and the types of the stub.
func (w *wrapper) document() {
	signature := append([]string{"$module"}, emit.PythonArguments(w.k)...)
	if keywords := w.keywords(""); len(keywords) > 0 {
		signature = append(signature, "*")
		for _, k := range keywords {
			signature = append(signature, k.name+"=None")
		}
	}
	w.v.Doc = emit.CLiterals(fmt.Sprintf("%s(%s)\n--\n\n", w.v.Name, escaped(strings.Join(signature, ", "))))
	text := w.described()
	for line := range strings.Lines(text) {
		w.v.Doc = append(w.v.Doc, emit.CLiterals(line)...)
	}
	w.v.DocString = emit.PythonDocstring(strings.TrimSuffix(text, "\n"), "    ")
	w.v.Signatures = []stubSignature{w.typed("")}
	if len(w.tensors()) == 1 {
		w.v.Signatures, w.v.Overloaded = []stubSignature{w.typed("None"), w.typed("_Out")}, true
	}
}

// escaped formats Python code in ASCII, as inspect.signature() requires. Only string literals
// contain other characters.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	return out.String()
}

// typed returns an overload of the stub: with any out=, or with an out= of the given type, which
// the function returns.
func (w *wrapper) typed(out string) stubSignature {
	var all []string
	for _, p := range w.k.Args {
		value := ""
		if p.Default != nil {
			value = " = " + p.Default.String()
		}
		all = append(all, p.Name+": "+w.annotation(p, out)+value)
	}
	if keywords := w.keywords(out); len(keywords) > 0 {
		all = append(all, "*")
		for _, k := range keywords {
			all = append(all, k.name+": "+k.typed)
		}
	}
	return stubSignature{strings.Join(all, ", "), w.returned(out)}
}

// keyword is an argument that callers add.
type keyword struct{ name, typed string }

func (w *wrapper) keywords(out string) (all []keyword) {
	switch n := len(w.tensors()); {
	case out == "_Out":
		all = append(all, keyword{"out", "_Out"})
	case n == 1:
		all = append(all, keyword{"out", "None = None"})
	case n > 1:
		all = append(all, keyword{"out", "tuple[" + strings.TrimSuffix(strings.Repeat("SupportsDLPack | None, ", n),
			", ") + "] | None = None"})
	}
	if w.like != contract.None {
		all = append(all, keyword{"like", w.array(out) + " | None = None"})
	}
	if w.v.TakesStream == 1 {
		all = append(all, keyword{"stream", "int | None = None"})
	}
	return all
}

// array returns the type of the results, unless out= is the result.
func (w *wrapper) array(out string) string {
	if out == "_Out" {
		return "SupportsDLPack"
	}
	return "_Array"
}

// described returns the documentation of the kernel: its arguments and results with their dtypes
// and shapes.
func (w *wrapper) described() string {
	var out strings.Builder
	if w.k.Doc != "" {
		out.WriteString(w.k.Doc + "\n\n")
	}
	for _, p := range w.k.Args {
		fmt.Fprintf(&out, "%s: %s\n", p.Name, p.Line)
	}
	for _, p := range w.results {
		fmt.Fprintf(&out, "returns %s: %s\n", p.Name, p.Line)
	}
	for _, line := range w.k.Limits() {
		fmt.Fprintln(&out, line)
	}
	for _, line := range emit.PythonRaises(w.k, "") {
		out.WriteString(line + "\n")
	}
	return out.String()
}

// annotation returns the type of an argument in the stub. The argument that determines the type of
// results has a type variable.
func (w *wrapper) annotation(p contract.Param, out string) string {
	text := "SupportsDLPack"
	switch p.Kind {
	case contract.Int:
		text = "int"
	case contract.Float:
		text = "float"
	case contract.Bool:
		text = "bool"
	case contract.Str:
		text = w.textType(p)
	case contract.Ints:
		text = "Sequence[int]"
	case contract.Floats:
		text = "Sequence[float]"
	case contract.Number:
		text = numberType(p)
	case contract.Tensor:
		if w.maker() == p.Name && len(w.tensors()) > 0 {
			text = w.array(out)
		}
	}
	if p.Optional {
		text += " | None"
	}
	return text
}

// textType returns str, or the literals that the conditions allow.
func (w *wrapper) textType(p contract.Param) string {
	var all []string
	for _, text := range w.k.Texts(p.Name) {
		all = append(all, text.String())
	}
	if len(all) == 0 {
		return "str"
	}
	return "Literal[" + strings.Join(all, ", ") + "]"
}

// maker returns the argument whose library allocates the results, if it is always the same
// argument.
func (w *wrapper) maker() string {
	if all := w.candidates(); len(all) > 0 && !w.k.Args[all[0]].Optional {
		return w.k.Args[all[0]].Name
	}
	return ""
}

// numberType returns the type of a scalar of a dtype.
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

// returned returns the return type of the function.
func (w *wrapper) returned(out string) string {
	tensor := "Any"
	if out == "_Out" {
		tensor = out
	} else if w.maker() != "" {
		tensor = "_Array"
	}
	var all []string
	for _, p := range w.results {
		if p.Kind == contract.Tensor {
			all = append(all, tensor)
		} else {
			all = append(all, w.annotation(p, out))
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
