package contract

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// argument checks the rules for arguments.
func (r *reader) argument(i int) {
	l, p := r.args[i], &r.Args[i]
	if p.Zeroed || p.Saved {
		name := map[bool]string{true: "saved", false: "zeroed"}[p.Saved]
		l.at.Errorf("invalid-modifier", "remove the modifier", "`%s` needs a result, and %s is an argument", name,
			p.Name)
	}
	r.checkDefault(l, p)
	if i > 0 && l.whole && p.Default == nil && r.Args[i-1].Default != nil {
		l.key.Errorf("argument-order", "give it a default, or move it up",
			"%s has no default, but follows %s, which has one",
			p.Name, r.Args[i-1].Name)
	}
}

// checkDefault compares a default with its type.
func (r *reader) checkDefault(l line, p *Param) {
	v := p.Default
	if v == nil || !l.whole {
		return
	}
	problem, hint := "", ""
	switch {
	case v.Kind == notation.None && !p.Optional:
		problem, hint = "the default None needs a type with ?", "write "+l.Type.String()+"?"
	case v.Kind == notation.None:
	case v.Kind == notation.Bare:
		problem, hint = v.Text+" is not a value", defaultHint(p)
		if p.Kind == Str {
			hint = `write a string in quotes, as in = "` + v.Text + `"`
		}
	default:
		problem, hint = mismatch(p, v), defaultHint(p)
		if p.Kind == Int && v.Kind == notation.Natural {
			hint = "write 9223372036854775807 or less, or make the argument a uint64"
		}
	}
	if problem != "" {
		l.at.ErrorfAt(v.At, "invalid-default", hint, "%s", problem)
	}
}

// valueKinds are the kinds of values that each kind of argument accepts.
var valueKinds = map[Kind][]notation.ValueKind{
	Int: {notation.Int}, Float: {notation.Int, notation.Natural, notation.Float}, Bool: {notation.Bool},
	Str: {notation.Text}, Number: {notation.Int, notation.Natural, notation.Float, notation.Bool},
}

// defaultHint returns a hint with a valid default for a type.
func defaultHint(p *Param) string {
	switch p.Kind {
	case Tensor, Ints, Floats:
		return "remove the default, or append ? to the type and write = None"
	case Bool:
		return "write = True or = False"
	case Str:
		return `write a string in quotes, as in = "mean"`
	case Float:
		return "write a number, as in = 0.5"
	case Int:
		return "write an integer, as in = 1"
	}
	return "write a value that each dtype of " + p.Name + " can represent, as in = 1"
}

// mismatch returns why a value is not valid for a type, or "".
func mismatch(p *Param, v *notation.Value) string {
	if p.Kind == Tensor || p.Kind == Ints || p.Kind == Floats {
		return "a tensor or a list has no default but None"
	}
	if p.Kind == Int && v.Kind == notation.Natural {
		return fmt.Sprintf("int64 cannot represent %s", v)
	}
	if !slices.Contains(valueKinds[p.Kind], v.Kind) {
		return fmt.Sprintf("%s is not a value of %s", v, p.Name)
	}
	for _, d := range p.Types {
		if !holds(d, v) {
			return fmt.Sprintf("%s cannot represent %s", d.Name, v)
		}
	}
	return ""
}

// holds reports whether a scalar of a dtype can have a value.
func holds(d spec.DType, v *notation.Value) bool {
	switch {
	case d.IsBool():
		return v.Kind == notation.Bool
	case d.IsSigned():
		bound := int64(1) << (min(d.Bits, 63) - 1)
		return v.Kind == notation.Int && (d.Bits > 62 || v.Int >= -bound && v.Int < bound)
	case d.IsInteger():
		return v.Kind == notation.Natural && d.Bits == 64 ||
			v.Kind == notation.Int && v.Int >= 0 && (d.Bits > 62 || v.Int < int64(1)<<min(d.Bits, 62))
	}
	most, known := Largest(d.Name)
	if !known {
		most = largestOf("float64")
	}
	return slices.Contains(valueKinds[Float], v.Kind) && math.Abs(v.Real()) <= most
}

// Largest returns the largest number of a float dtype whose range is smaller than that of double.
func Largest(dtype string) (float64, bool) {
	most := largestOf(dtype)
	return most, most > 0 && most < math.MaxFloat64
}

// formats are the exponent and mantissa bits of the float dtypes of scalars. The sources of callers
// contain the numbers that follow from them; a test compares both.
var formats = map[string]struct{ exponent, mantissa int }{
	"float16": {5, 10}, "bfloat16": {8, 7}, "float32": {8, 23}, "float64": {11, 52},
}

// largestOf returns the largest finite value of a float dtype, or 0 for another dtype.
func largestOf(dtype string) float64 {
	format, known := formats[dtype]
	if !known {
		return 0
	}
	return math.Ldexp(2-math.Ldexp(1, -format.mantissa), 1<<(format.exponent-1)-1)
}

// CLargest formats that number in C, or returns "" for other dtypes.
func CLargest(dtype string) string {
	most, known := Largest(dtype)
	if !known {
		return ""
	}
	return strconv.FormatFloat(most, 'x', -1, 64)
}

// result checks the rules for results.
func (r *reader) result(i int) {
	l, p := r.gives[i], &r.Results[i]
	problem, hint, at := "", "", 0
	switch {
	case l.whole && r.checkModifiers(l, p):
	case p.Optional:
		problem, hint, at = "a result is never None", "leave ? out", l.OptionalAt
	case p.Default != nil:
		problem, hint, at = "a result has no default", "remove = "+p.Default.String(), p.Default.At
	case p.Kind == Ints || p.Kind == Floats || p.Kind == Str:
		problem, hint = "a result is a tensor or a scalar", "return a list as int64[n]"
	case p.Kind == Tensor && (len(l.Type.Elements) > 1 || l.Type.Elements[0].Text == "any"):
		problem, hint = "a result has one dtype, or a variable's", "as in T[n]"
	}
	if problem != "" {
		l.at.ErrorfAt(at, "invalid-result", hint, "%s", problem)
	}
}

// checkModifiers reports a modifier that results do not support, and returns whether there is one.
func (r *reader) checkModifiers(l line, p *Param) bool {
	for _, w := range l.Modifiers {
		if p.Kind == Tensor && w.Text != "zeroed" && w.Text != "saved" {
			l.at.ErrorfAt(w.At, "invalid-result", "make it an argument: out",
				"`%s` needs an argument: a result is C-contiguous, and can be zeroed or saved", w.Text)
			return true
		}
	}
	return false
}

// checkNames reports duplicate names among arguments, results and variables, and names with a
// meaning in callers.
func (r *reader) checkNames() {
	for _, v := range r.Vars {
		r.taken[v.Name] = "the variable " + v.Name
	}
	for i, l := range slices.Concat(r.args, r.gives) {
		name, what := l.key.Value, "an argument"
		if i >= len(r.args) {
			what = "a result"
		}
		if before, again := r.taken[name]; again && before != what { // else the key is a duplicate
			l.key.Errorf("duplicate-name", "rename one of them", "%s is already the name of %s", name, before)
		}
		if problem := kernel.CheckArgument(name); l.named && problem != "" {
			l.key.Errorf("invalid-name", "choose another name, such as my_"+lower(name), "%s %s", name, problem)
		}
		r.taken[name] = what
	}
	r.checkKeywords()
	r.aliases()
}

// checkKeywords reports arguments that hide keywords of callers.
func (r *reader) checkKeywords() {
	if i := r.Arg("out"); i != None && len(r.Returned()) > 0 {
		r.args[i].key.Errorf("invalid-name", "choose another name, such as result",
			"out is reserved: callers pass memory for the results as out=")
	}
	if i := r.Arg("like"); i != None && len(r.Returned()) > 0 && !slices.ContainsFunc(r.Args, required) {
		r.args[i].key.Errorf("invalid-name", "choose another name, such as my_like",
			"like is reserved: callers name a library by like=")
	}
}

// required reports whether an argument is always a tensor.
func required(p Param) bool { return p.Kind == Tensor && !p.Optional }

// aliases resolves the arguments that written arguments may overlap.
func (r *reader) aliases() {
	for i, l := range r.args {
		for _, w := range l.Modifiers {
			if w.Text != "aliases" {
				continue
			}
			of := r.Arg(w.Of)
			others := slices.DeleteFunc(r.tensors(), func(name string) bool { return name == r.Args[i].Name })
			switch {
			case of == None && r.lost.has(w.Of):
			case of == None || r.Args[of].Kind != Tensor || of == i:
				l.at.ErrorfAt(w.At, "unknown-name", cmp.Or(oneOf(w.Of, others), "remove aliases "+w.Of),
					"%q is not another tensor among the arguments", w.Of)
			case !r.Args[i].Writes():
				l.at.ErrorfAt(w.At, "invalid-modifier", "omit it",
					"%s is not written, so it may overlap all arguments that are not written", r.Args[i].Name)
			default:
				r.Args[i].Aliases = append(r.Args[i].Aliases, of)
			}
		}
	}
}

// oneOf returns the hint for an unknown name: the nearest candidate, or all of them, or "" without
// candidates.
func oneOf(name string, names []string) string {
	if hint := diag.DidYouMean(name, names); hint != "" || len(names) == 0 {
		return hint
	}
	return "name one of these: " + strings.Join(names, ", ")
}

// names returns the names of all arguments but one.
func (r *reader) names(but int) (all []string) {
	for i, p := range r.Args {
		if i != but {
			all = append(all, p.Name)
		}
	}
	return all
}

// tensors returns the names of the tensor arguments.
func (r *reader) tensors() (all []string) {
	for _, p := range r.Args {
		if p.Kind == Tensor {
			all = append(all, p.Name)
		}
	}
	return all
}

// bindVars finds the tensors that determine the dtypes of variables.
func (r *reader) bindVars() {
	for v := range r.Vars {
		r.Vars[v].Arg = slices.IndexFunc(r.Args, func(p Param) bool { return required(p) && p.Var == v })
		if r.Vars[v].Arg != None || r.lost.shapes || r.lost.has(r.Vars[v].Name) {
			continue
		}
		at := r.m.Get("types").Entries[v].Key
		at.Errorf("unbound-variable", "as in x: "+r.Vars[v].Name+"[n]",
			"no tensor argument without ? has the dtype %s, so no argument determines it", r.Vars[v].Name)
	}
}
