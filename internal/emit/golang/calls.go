package golang

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// callWriter writes the functions of one kernel.
type callWriter struct {
	k      *contract.Kernel
	prefix string // of the names of C
	v      caller
	params []string // of C
	pass   []string // what Go passes for them
	args   []string // of the function of Go
	first  []string // its lines before the call
	room   []string // what C frees
}

func newCallWriter(k *contract.Kernel, prefix string) *callWriter {
	w := &callWriter{k: k, prefix: prefix}
	w.v = caller{Name: k.Name, Go: camel(k.Name), SitesName: "sitesOf" + camel(k.Name), Stream: "NULL"}
	return w
}

// write fills the view with the arguments, the results, and both functions.
func (w *callWriter) write() {
	for i, p := range w.k.Args {
		w.v.Sites = append(w.v.Sites, fmt.Sprintf("%q, %q, %q", w.k.Name, p.Name, emit.Ordinal(i+1)))
		w.argument(i, p)
	}
	w.results()
	if w.streams() {
		w.v.Fields = append(w.v.Fields, "Stream dlpack.Stream // where the device has streams")
		w.params, w.pass = append(w.params, "uintptr_t stream_"), append(w.pass, "C.uintptr_t(o.Stream)")
		w.v.Stream = "(void*)stream_"
	}
	for _, text := range w.room {
		w.v.After = append(w.v.After, "free("+text+");")
	}
	w.head()
	w.forms()
	if !w.usesSites() {
		w.v.Sites = nil
	}
}

// usesSites reports whether Go itself reports errors about an argument.
func (w *callWriter) usesSites() bool {
	return strings.Contains(strings.Join(w.first, "\n"), w.v.SitesName)
}

// streams reports whether a device of the kernel has streams.
func (w *callWriter) streams() bool {
	for _, d := range w.k.Devices {
		if d.Name != "kDLCPU" {
			return true
		}
	}
	return false
}

func (w *callWriter) before(format string, args ...any) {
	w.v.Before = append(w.v.Before, fmt.Sprintf(format, args...))
}

func (w *callWriter) line(format string, args ...any) {
	w.first = append(w.first, fmt.Sprintf(format, args...))
}

// may returns a line of Go that can end the function.
func (w *callWriter) may(format string, args ...any) {
	w.line(format+"; err != nil {", args...)
	w.line("RETURN")
	w.line("}")
}

// declare adds an argument to the function, or to the options, and returns its name in Go.
func (w *callWriter) declare(p contract.Param, typeName string) string {
	if p.Default != nil {
		w.v.Fields = append(w.v.Fields, camel(p.Name)+" "+typeName+" // "+p.Line)
		return "o." + camel(p.Name)
	}
	w.args = append(w.args, identifier(p.Name)+" "+typeName)
	return identifier(p.Name)
}

// argument writes the assignment of a Go argument to the call.
func (w *callWriter) argument(i int, p contract.Param) {
	into := "call_.args." + p.Name
	switch p.Kind {
	case contract.Tensor:
		at := w.declare(p, "dlpack.Tensor")
		w.tensor(fmt.Sprintf("a%d", i), at)
		w.before("%s = (DLTensor*)(uintptr_t)a%d;", into, i)
		w.before("call_.flags.%s = a%df;", p.Name, i)
	case contract.Ints:
		w.list(i, p, "int64", into)
	case contract.Floats:
		w.list(i, p, "float64", into)
	case contract.Str:
		w.text(i, p, into)
	default:
		if p.Kind == contract.Number && p.Var != contract.None {
			w.variable(i, p, into)
			return
		}
		w.scalar(i, p, into)
	}
}

// goTypes are the Go types of scalars, by their C types.
var goTypes = map[string]string{"int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "float": "float32",
	"double": "float64", "bool": "bool"}

// tensor writes the address and the flags of a tensor.
func (w *callWriter) tensor(name, at string) {
	w.params = append(w.params, "const uint64_t* "+name, "uint64_t "+name+"f")
	w.pass = append(w.pass, "pointerOf(unsafe.Pointer("+at+".Raw()))", "C.uint64_t("+at+".Flags())")
}

func (w *callWriter) list(i int, p contract.Param, of, into string) {
	at := w.declare(p, "[]"+of)
	w.params = append(w.params, fmt.Sprintf("const uint64_t* a%d", i), fmt.Sprintf("int64_t a%dn", i))
	w.pass = append(w.pass, "itemsOf("+at+")", "C.int64_t(len("+at+"))")
	ctype := map[string]string{"int64": "int64_t", "float64": "double"}[of]
	w.before("%s.items = (const %s*)(uintptr_t)a%d;", into, ctype, i)
	w.before("%s.count = a%dn;", into, i)
}

// maybe reports whether an argument may have no value in Go.
func maybe(p contract.Param) bool { return p.Optional || p.Default != nil }

func (w *callWriter) site(i int) string { return fmt.Sprintf("&%s[%d]", w.v.SitesName, i) }

// resolve writes the value of an optional argument, and whether it has one, and returns both
// expressions.
func (w *callWriter) resolve(i int, p contract.Param, at, typeName string) (value, there string) {
	if !maybe(p) {
		return at, "true"
	}
	otherwise, present := literal(p, typeName)
	value, there = fmt.Sprintf("a%d_", i), fmt.Sprintf("passed%d_", i)
	if p.Optional {
		w.line("%s, %s := %s.or(%s, %v)", value, there, at, otherwise, present)
		return value, there
	}
	w.line("%s, err := %s.must(%s, %q, %s)", value, at, w.site(i), p.Expected(), otherwise)
	w.line("if err != nil {")
	w.line("RETURN")
	w.line("}")
	return value, "true"
}

// scalar writes the assignment of a number with one type.
func (w *callWriter) scalar(i int, p contract.Param, into string) {
	ctype := p.CType()
	typeName := goTypes[ctype]
	declared := typeName
	if maybe(p) {
		declared = "Maybe[" + typeName + "]"
	}
	value, there := w.resolve(i, p, w.declare(p, declared), typeName)
	if p.Kind == contract.Number && contract.IsNarrowed(p.Types[0].Name) {
		w.may("if err := fitsFloat(%s, %s, float64(%s))", w.site(i), dtypeOf(p.Types[0]), value)
	}
	w.params = append(w.params, fmt.Sprintf("%s a%d", ctype, i))
	w.pass = append(w.pass, "C."+ctype+"("+value+")")
	if !p.Optional {
		w.before("%s = a%d;", into, i)
		return
	}
	w.params, w.pass = append(w.params, fmt.Sprintf("bool a%dg", i)), append(w.pass, there)
	w.before("%s = a%dg ? &a%d : NULL;", into, i, i)
}

func (w *callWriter) text(i int, p contract.Param, into string) {
	declared := "string"
	if maybe(p) {
		declared = "Maybe[string]"
	}
	value, there := w.resolve(i, p, w.declare(p, declared), "string")
	w.may("if err := checkText(%s, %s)", w.site(i), value)
	w.params = append(w.params, fmt.Sprintf("const char* a%d", i),
		fmt.Sprintf("size_t a%dn", i), fmt.Sprintf("bool a%dg", i))
	w.pass = append(w.pass, "textOf("+value+")", "C.size_t(len("+value+"))", there)
	w.before("char small%d_[128], *large%d_ = NULL;", i, i)
	w.before("%s = a%dg ? dlpackgen_text_in(a%d, a%dn, small%d_, sizeof small%d_, &large%d_) : NULL;",
		into, i, i, i, i, i, i)
	w.before("if (a%dg && !%s) {", i, into)
	for _, text := range w.room {
		w.before("  free(%s);", text)
	}
	w.before("  answer_.failure = &%skernel_exhausted;", w.prefix)
	w.before("  return answer_;")
	w.before("}")
	w.room = append(w.room, fmt.Sprintf("large%d_", i))
}

// variable writes a scalar that has the dtype of a tensor.
func (w *callWriter) variable(i int, p contract.Param, into string) {
	at := w.declare(p, "Number")
	v := w.k.Vars[p.Var]
	table := fmt.Sprintf("typesOf%s_%d", w.v.Go, i)
	var all []string
	for _, d := range v.Types {
		all = append(all, dtypeOf(d))
	}
	w.v.Tables = append(w.v.Tables, "var "+table+" = []dlpack.DataType{"+strings.Join(all, ", ")+"}")
	if otherwise, there := literal(p, "Number"); there {
		local := fmt.Sprintf("a%d_", i)
		w.line("%s := %s", local, at)
		w.line("if %s.kind == noNumber {", local)
		w.line("%s = %s", local, otherwise)
		w.line("}")
		at = local
	}
	w.may("if err := %s.checked(%s, %s, %s)", at, w.site(i), identifier(w.k.Args[v.Arg].Name), table)
	w.params = append(w.params, fmt.Sprintf("int64_t a%d", i), fmt.Sprintf("double a%dr", i))
	w.pass = append(w.pass, "C.int64_t("+at+".integer)", "C.double("+at+".real)")
	w.before("%s.integer = a%d;", into, i)
	w.before("%s.real = a%dr;", into, i)
}

// literal returns a default in Go, and whether there is a default other than None.
func literal(p contract.Param, typeName string) (text string, there bool) {
	zero := map[string]string{"string": `""`, "bool": "false"}[typeName]
	if zero == "" {
		zero = "0"
	}
	if p.Default == nil || p.Default.Kind == notation.None {
		return zero, false
	}
	switch v := p.Default; v.Kind {
	case notation.Int:
		text = strconv.FormatInt(v.Int, 10)
		if typeName == "Number" {
			text = "Int(" + text + ")"
		}
	case notation.Natural:
		text = v.String()
		if typeName == "Number" {
			text = "Uint(" + text + ")"
		}
	case notation.Float:
		text = floatLiteral(v.Float, typeName)
		if typeName == "Number" {
			text = "Float(" + text + ")"
		}
	case notation.Bool:
		text = strconv.FormatBool(v.Bool)
		if typeName == "Number" {
			text = "Bool(" + text + ")"
		}
	case notation.Text:
		text = strconv.Quote(v.Text)
	}
	return text, true
}

// floatLiteral formats an untyped float constant.
func floatLiteral(v float64, typeName string) string {
	switch {
	case v != 0 || !math.Signbit(v):
		return strconv.FormatFloat(v, 'g', -1, 64)
	case typeName == "float32":
		return "float32(negativeZero)"
	}
	return "negativeZero"
}
