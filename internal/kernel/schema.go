package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Fault is what is wrong with a schema, and where.
type Fault struct {
	Offset int // in bytes, from 0
	Text   string
	Hint   string
}

// Parse reads a schema: "(Tensor x, Tensor(a!) out, float a) -> Tensor". The types
// are Tensor, Tensor(a!), Tensor?, int, float and bool, the results "()", "Tensor"
// or "(Tensor, Tensor y)". What results are like is not part of it.
func Parse(text string) (s Schema, fault *Fault) {
	if len(text) > MaxSchema {
		return s, &Fault{Text: fmt.Sprintf("the schema has %d bytes, more than %d", len(text), MaxSchema)}
	}
	p := &parser{text: text}
	defer func() { fault = p.fault }()
	s.Arguments = p.arguments()
	p.want("->")
	s.Results = p.results()
	if p.skip(); p.fault == nil && p.at < len(text) {
		p.fail(p.at, "", "expected the end, not %q", rest(text[p.at:]))
	}
	return s, nil
}

// parser is the state of one Parse: it stops at the first fault.
type parser struct {
	text  string
	at    int
	fault *Fault
	names []string
	alias []string
}

func (p *parser) fail(at int, hint, format string, args ...any) {
	if p.fault == nil {
		p.fault = &Fault{Offset: at, Text: fmt.Sprintf(format, args...), Hint: hint}
		p.at = len(p.text)
	}
}

func (p *parser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take consumes a mark if it comes next.
func (p *parser) take(mark string) bool {
	p.skip()
	found := p.fault == nil && strings.HasPrefix(p.text[p.at:], mark)
	if found {
		p.at += len(mark)
	}
	return found
}

func (p *parser) want(mark string) {
	if !p.take(mark) {
		p.fail(p.at, form, "expected %q, not %q", mark, rest(p.text[p.at:]))
	}
}

const form = "as in (Tensor x, Tensor(a!) out, float a) -> ()"

// rest shows what comes next, in few words.
func rest(text string) string {
	if len(text) > 20 {
		return text[:20] + "..."
	}
	return text
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// word reads a name or a type, or gives "".
func (p *parser) word() (string, int) {
	p.skip()
	found := word.FindString(p.text[p.at:])
	p.at += len(found)
	return found, p.at - len(found)
}

func (p *parser) arguments() (out []Argument) {
	p.want("(")
	if p.take(")") {
		return nil
	}
	for p.fault == nil {
		if out = append(out, p.argument()); len(out) > MaxArguments {
			p.fail(p.at, "", "more than %d arguments", MaxArguments)
		}
		if p.take(")") {
			break
		}
		p.want(",")
	}
	return out
}

var kinds = map[string]Kind{"Tensor": Tensor, "int": Int, "float": Float, "bool": Bool}

func (p *parser) argument() Argument {
	var a Argument
	name, at := p.word()
	kind, known := kinds[name]
	if !known {
		p.fail(at, diag.DidYouMean(name, []string{"Tensor", "int", "float", "bool"}),
			"expected a type, not %q: there are Tensor, Tensor(a!), Tensor?, int, float and bool",
			name+rest(p.text[p.at:]))
	}
	a.Kind = kind
	if p.take("(") {
		a.Alias = p.annotation(kind, at)
	}
	if p.take("?") {
		if a.Optional = true; kind != Tensor || a.Writes() {
			p.fail(at, "", "only a tensor that is not written to can be optional")
		}
	}
	a.Name = p.name("an argument")
	return a
}

// annotation reads what follows the bracket of Tensor(a!).
func (p *parser) annotation(kind Kind, at int) string {
	letter, where := p.word()
	switch {
	case kind != Tensor:
		p.fail(at, "", "only a tensor has an alias annotation")
	case len(letter) != 1 || letter < "a" || letter > "z":
		p.fail(where, "as in Tensor(a!)", "expected a letter from a to z, not %q", letter)
	case slices.Contains(p.alias, letter):
		p.fail(where, "give each tensor that is written to a letter of its own", "the letter %s again", letter)
	}
	p.alias = append(p.alias, letter)
	p.want("!")
	p.want(")")
	return letter
}

// taken are the words that generated code, or Python, keeps for itself.
var taken = []string{
	"False", "None", "True", "as", "assert", "async", "await", "def", "del", "elif", "except", "finally", "from",
	"global", "import", "in",
	"is", "lambda", "nonlocal", "pass", "raise", "with", "yield", "errno", "stdin", "stdout", "stderr", "stream",
	"co_await", "co_return", "co_yield", "concept", "consteval", "constinit", "decltype", "delete", "requires",
	"char8_t", "char16_t", "char32_t",
	"dynamic_cast", "static_cast", "const_cast", "reinterpret_cast", "static_assert", "thread_local", "typeid",
	"wchar_t",
	"and_eq", "bitand", "bitor", "compl", "not_eq", "or_eq", "xor_eq", "mutable", "int64_t", "uint8_t", "DLTensor",
}

// CheckName tells why a word cannot name a kernel, an argument or a C function,
// or gives "".
func CheckName(name string) string {
	switch {
	case len(name) > 100 || word.FindString(name) != name || name == "":
		return "is not a name in C"
	case strings.HasPrefix(name, "_") || strings.Contains(name, "__") || strings.HasSuffix(name, "_"):
		return "is reserved: a name has no underscore at its ends, and no two in a row"
	case strings.HasPrefix(name, "dlpackgen_"):
		return "is reserved: generated code has the names that begin with dlpackgen_"
	case spec.IsKeyword(name) || slices.Contains(taken, name):
		return "means something else in C, C++ or Python"
	}
	return ""
}

// global are the names outside of any namespace that the generated code, or every
// program, has.
var global = []string{"at", "c10", "caffe2", "dlpackgen", "main", "std", "torch"}

// CheckSymbol tells why a word that CheckName lets pass cannot name a C function, or
// gives "". Functions of the C library are not known here.
func CheckSymbol(name string) string {
	switch {
	case LooksLikeMacro(name):
		return "may be a macro: a C function has a small letter in its name"
	case slices.Contains(global, name):
		return "is taken in every program, or by PyTorch"
	}
	return ""
}

// LooksLikeMacro tells whether a word is written as macros are. Those of one letter
// are none.
func LooksLikeMacro(name string) bool { return len(name) > 1 && strings.ToUpper(name) == name }

// name reads the name of an argument or a result.
func (p *parser) name(of string) string {
	name, at := p.word()
	if p.fault != nil {
		return name
	}
	problem := CheckName(name)
	switch {
	case name == "":
		p.fail(at, form, "expected the name of %s, not %q", of, rest(p.text[at:]))
	case problem != "":
		p.fail(at, "", "%q %s", name, problem)
	case slices.Contains(p.names, name):
		p.fail(at, "", "the name %q again", name)
	}
	p.names = append(p.names, name)
	return name
}

func (p *parser) results() (out []Result) {
	bracket := p.take("(")
	if bracket && p.take(")") {
		return nil
	}
	for p.fault == nil {
		if out = append(out, p.result()); len(out) > MaxResults {
			p.fail(p.at, "", "more than %d results", MaxResults)
		}
		if !bracket || p.take(")") {
			break
		}
		p.want(",")
	}
	return out
}

func (p *parser) result() Result {
	var r Result
	if name, at := p.word(); name != "Tensor" {
		p.fail(at, form, "expected Tensor as a result, not %q", name+rest(p.text[p.at:]))
	}
	p.skip()
	if word.MatchString(p.text[p.at:]) {
		r.Name = p.name("a result")
	}
	return r
}

// String is the schema as Parse reads it, which PyTorch reads too.
func (s Schema) String() string {
	var args, results []string
	for _, a := range s.Arguments {
		args = append(args, a.Type()+" "+a.Name)
	}
	for _, r := range s.Results {
		results = append(results, strings.TrimSpace("Tensor "+r.Name))
	}
	gives := "(" + strings.Join(results, ", ") + ")"
	if len(results) == 1 {
		gives = results[0]
	}
	return fmt.Sprintf("(%s) -> %s", strings.Join(args, ", "), gives)
}

// Type spells the type of an argument as schemas do.
func (a Argument) Type() string {
	for name, kind := range kinds {
		if kind != a.Kind {
			continue
		}
		if a.Writes() {
			name += "(" + a.Alias + "!)"
		}
		if a.Optional {
			name += "?"
		}
		return name
	}
	return ""
}
